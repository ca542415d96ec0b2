// A real browser looks at one page: node browse.mjs PAGE < steps (JSON). Steps are JavaScript to run in the page, or
// {click: [x, y]}, {drag: [x, y, x, y]}, {wheel: [x, y, by]}, {type: text}, {press: key}, {shot: file}.
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";
import { pathToFileURL } from "node:url";

const steps = JSON.parse(await new Response(process.stdin).text());
const browser = await puppeteer.launch({
  args: ["--no-sandbox", "--disable-gpu"],
  executablePath: await chromium.executablePath(),
  headless: "shell",
  protocolTimeout: 30_000,
  defaultViewport: { width: 1200, height: 800 },
});
try {
  const page = await browser.newPage();
  const heard = { requests: [], errors: [], dialogs: [], results: [] };
  page.on("request", (request) => heard.requests.push(request.url()));
  page.on("pageerror", (error) => heard.errors.push(String(error)));
  page.on("console", (said) => said.type() === "error" && heard.errors.push(said.text()));
  page.on("dialog", async (dialog) => { heard.dialogs.push(dialog.message()); await dialog.dismiss(); });
  await page.goto(pathToFileURL(process.argv[2]).href);
  for (const step of steps) heard.results.push((await act(page, step)) ?? null);
  process.stdout.write(JSON.stringify(heard));
} finally {
  await browser.close();
}

async function act(page, step) {
  if (typeof step === "string") return page.evaluate(step);
  if (step.click) return page.mouse.click(...step.click);
  if (step.type) return page.keyboard.type(step.type);
  if (step.press) return page.keyboard.press(step.press);
  if (step.shot) return void (await page.screenshot({ path: step.shot }));
  const [x, y, ...rest] = step.drag || step.wheel;
  await page.mouse.move(x, y);
  if (step.wheel) return page.mouse.wheel({ deltaY: rest[0] });
  await page.mouse.down();
  await page.mouse.move(...rest, { steps: 5 });
  return page.mouse.up();
}
