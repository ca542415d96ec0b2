from __future__ import annotations

from pathlib import Path

import pytest

from tests.personas.folder import NPUB, PUBKEY, persona, write
from uniun_bots.personas.load_settings import load_settings
from uniun_bots.personas.project import load_project
from uniun_bots.personas.settings import DEFAULT_MODEL, EngineType, HostSettings, JsonDialect


def read(folder: Path, text: str) -> HostSettings:
    reading, _ = load_settings(write(folder, host_yaml=text) / "host.yaml")
    assert not reading.faults, reading.faults
    assert reading.value is not None
    return reading.value


def told(folder: Path, text: str) -> list[str]:
    reading, _ = load_settings(write(folder, host_yaml=text) / "host.yaml")
    return [f"{fault.line}:{fault.column} {fault.message}" for fault in sorted(reading.faults)]


@pytest.mark.parametrize("text", ["", "{}", "# nothing yet\n"])
def test_every_setting_has_a_default(tmp_path: Path, text: str) -> None:
    settings = read(tmp_path, text)
    assert settings == HostSettings()
    assert (settings.relays, settings.model, settings.timezone) == ("local", DEFAULT_MODEL, "UTC")
    assert settings.keep_notes_s == 90 * 86_400


def test_a_folder_without_the_file_has_the_defaults(tmp_path: Path) -> None:
    reading, sheet = load_settings(tmp_path / "host.yaml")
    assert (reading.value, reading.faults, sheet) == (HostSettings(), (), None)


def test_settings_are_read(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        f"owner: {NPUB}\nproxy: socks5://127.0.0.1:9050\ntimezone: Europe/Berlin\nkeep_notes: 2w\n"
        "memories: off\nforeign_publish: pause\npow: 8\n",
    )
    assert (settings.owner, settings.keep_notes_s, settings.pow) == (PUBKEY, 1_209_600, 8)


def test_the_data_folder_is_inside_the_project_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert HostSettings().data_folder(tmp_path) == tmp_path / "data"
    assert HostSettings(data_dir="/var/lib/bots").data_folder(tmp_path) == Path("/var/lib/bots")


def test_a_scripted_engine_takes_replies_and_latency(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        "model: fake\nengines:\n"
        "  fake: {type: scripted, replies: [no, 'a: b'], latency: 50ms, latency_max: 300ms}\n",
    )
    engine = settings.engines["fake"]
    assert engine.type is EngineType.SCRIPTED
    assert (engine.replies, engine.latency_s, engine.latency_max_s) == (("no", "a: b"), 0.05, 0.3)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("skill_kind: 33410", "1:13 `skill_kind` must not be 33410, which is the kind of persona templates"),
        ("model: big", "1:8 no engine `big` in `engines`: add it, or write a model such as path:qwen3.gguf"),
        (
            "model: path:model.bin",
            "1:8 must be path:FILE.gguf, package:MODULE/FILE.gguf or hf:OWNER/REPO/FILE.gguf, not",
        ),
        (
            "model: hf:owner/file.gguf",
            "1:8 must be path:FILE.gguf, package:MODULE/FILE.gguf or hf:OWNER/REPO/",
        ),
        ("model: hf:owner/repo/../file.gguf", "1:8 must be path:FILE.gguf, package:MODULE/FILE.gguf or hf:"),
        ("timezone: Europe/Belin", "1:11 `timezone` is not a known time zone: `Europe/Belin` (did you mean"),
        ("proxy: http://127.0.0.1:8080", "1:8 `proxy` must be a SOCKS address"),
        ("owner: me", "1:8 `owner` is not usable: 'me'"),
        ("affinity: 2h", "1:11 `affinity` must be"),
        ("keep_notes: 90", "1:13 `keep_notes` must be a duration such as"),
        ("engins: {}", "1:1 unknown key `engins` (did you mean `engines`?)"),
        ("engines: {a: {type: openai}}", "1:14 an openai engine needs a `base_url`, such as http://127"),
        (
            "engines: {a: {type: openai, base_url: 127.0.0.1:8000}}",
            "1:39 `engines.a.base_url` must be the address of a model server without a password",
        ),
        (
            "engines: {a: {type: openai, base_url: 'https://me:sk-1@x.example/v1'}}",
            "1:39 `engines.a.base_url` must be the address of a model server without a password",
        ),
        (
            "engines: {a: {type: openai, base_url: http://x/v1, json: grammar}}",
            "1:58 `engines.a.json` must be json_schema, json_object or none, not `grammar`",
        ),
        (
            "engines: {a: {type: openai, base_url: http://x/v1, threads: 2}}",
            "1:61 `threads` means nothing to an engine of type openai: remove it",
        ),
        (
            "engines: {a: {type: llama, model: path:x.gguf, json: none}}",
            "1:54 `json` means nothing to an engine of type llama",
        ),
        (
            "engines: {a: {type: openai, api_key: 'env:sk-1'}}",
            "1:38 must not hold the key itself: write env:NAME",
        ),
        ("engines: {a: {type: openai, api_key: sk-1}}", "1:38 must not hold the key itself: write env:NAME"),
        (
            "engines: {a: {type: llama, model: path:x.gguf, kept_state: 512}}",
            "1:60 `engines.a.kept_state` must be a size such as 512MB or 2GB, not `512`: write the unit, such as 512MB",
        ),
        (
            "engines: {a: {type: llama, model: path:x.gguf, kept_state: 2000GB}}",
            "1:60 `engines.a.kept_state` must be between 0MB and 1000GB, not `2000GB`",
        ),
        ("engines: {a: {type: vllm}}", "1:21 `engines.a.type` must be llama, scripted or openai, not `vllm`"),
        ("engines: {a: {type: llama}}", "1:14 a llama engine needs a `model`, such as path:qwen3.gguf"),
        ("engines: {a: {type: llama, model: x}}", "1:35 must be path:FILE.gguf"),
        ("engines: {a: {type: scripted}}", "1:14 a scripted engine needs `replies`, a list of texts"),
        (
            "engines: {a: {type: scripted, replies: hi}}",
            "1:40 `engines.a.replies` must be a list of texts: write [hi]",
        ),
        (
            "engines: {a: {type: scripted, replies: [x], threads: 2}}",
            "1:54 `threads` means nothing to an engine of type scripted: remove it",
        ),
        (
            "engines: {a: {type: scripted, replies: [x], latency: 2s, latency_max: 1s}}",
            "1:71 `latency_max` is shorter than `latency`",
        ),
        (
            "engines: {default: {type: scripted, replies: [x]}}",
            "1:20 an engine's name is 1 to 64 of a-z, 0-9 and -",
        ),
        ("embedder: sbert", "1:11 `sbert` is no embedder: write minilm, none, path:FILE.gguf"),
        (
            "embedder: big\nengines:\n  big: {type: scripted, replies: [a]}",
            "1:11 `big` is no embedder",
        ),
        (
            "probe: {warn_below: 0.4, refuse_below: 0.5}",
            "1:40 `refuse_below` is above `warn_below`, so nothing would ever be warned of: lower it",
        ),
        ("probe: {warn_below: 70}", "1:21 `probe.warn_below` must be between 0 and 1"),
        ("defaults: {limits: {per_hour: many}}", "1:31 `defaults.limits.per_hour` must be a whole number"),
    ],
)
def test_a_wrong_setting_is_told_in_its_place(tmp_path: Path, text: str, fault: str) -> None:
    found = told(tmp_path, text)
    assert any(line.startswith(fault) for line in found), found
    assert "sk-1" not in str(found)


def test_an_openai_engine_takes_what_a_server_needs(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        "model: big\nengines:\n  big: {type: openai, base_url: 'http://127.0.0.1:8000/v1/', model: qwen3-8b,\n"
        "    api_key: env:BIG_KEY, slots: 8, priority: true, json: json_object, context: 8192, timeout: 5m}\n"
        "  small: {type: openai, base_url: http://localhost:8080}\n",
    )
    big, small = settings.engines["big"], settings.engines["small"]
    assert (big.base_url, big.api_key, big.model) == ("http://127.0.0.1:8000/v1", "env:BIG_KEY", "qwen3-8b")
    assert (big.side_by_side, big.priority, big.json_dialect) == (8, True, JsonDialect.JSON_OBJECT)
    assert (big.context_tokens, big.timeout_s) == (8192, 300)
    assert (small.side_by_side, small.model, small.priority) == (4, None, None)
    assert "BIG_KEY" not in repr(big)


@pytest.mark.parametrize("model", ["hf:owner/repo/file.gguf", "hf:a-b/c.d/sub/file-Q4_K_M.gguf"])
def test_a_model_is_named_by_where_it_comes_from(tmp_path: Path, model: str) -> None:
    assert read(tmp_path, f"model: {model}\n").model == model


def test_defaults_stand_under_what_a_persona_file_leaves_open(tmp_path: Path) -> None:
    write(
        tmp_path,
        host_yaml="defaults: {debounce: 9s, temperature: 0.1, max_tokens: 50,\n  limits: {per_hour: 5, depth: 3}}\n",
        personas__a_md=persona("debounce: 1s", "limits: {per_hour: 7}"),
    )
    (gana,) = load_project(tmp_path).ganas
    assert (gana.debounce_s, gana.temperature, gana.max_tokens) == (1.0, 0.1, 50)
    assert (gana.limits.per_hour, gana.limits.depth, gana.limits.per_day) == (7, 3, 100)


@pytest.mark.parametrize(
    "embedder", ["minilm", "none", "path:bge.gguf", "hf:owner/repo/nomic.Q8_0.gguf", "big"]
)
def test_an_embedder_is_the_one_in_a_package_a_model_file_a_server_or_none(
    tmp_path: Path, embedder: str
) -> None:
    engines = "engines: {big: {type: openai, base_url: 'http://127.0.0.1:8000/v1'}}"
    assert read(tmp_path, f"embedder: {embedder}\n{engines}\n").embedder == embedder
    assert read(tmp_path, "{}\n").embedder == "minilm"
