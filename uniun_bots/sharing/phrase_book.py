"""Words by which a text tries to be more than a text, in languages that many people read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    language: str
    parts: tuple[str, ...]
    """Beginnings of words with `|` between them; each part must be near the first."""


OVERRIDES = (
    Phrase(
        "English",
        (
            "ignore|disregard|forget|override|bypass|neglect|discard|overrule",
            (
                "previous|prior|above|earlier|preceding|former|system|original|initial|existing|other|all|"
                "any|every|your"
            ),
            (
                "instruction|rule|prompt|direction|directive|guideline|command|constraint|restriction|"
                "policy|policies|safeguard|task"
            ),
        ),
    ),
    Phrase(
        "English",
        (
            "ignore|disregard|forget",
            "everything|all that|anything",
            "above|before|said|told|so far|until now",
        ),
    ),
    Phrase(
        "German",
        (
            "ignorier|vergiss|vergesst|vergessen sie|missacht|übergeh",
            "vorherig|vorig|bisherig|obig|früher|alle|dein|ursprünglich|system",
            "anweisung|instruktion|regel|vorgabe|befehl|prompt|aufgabe",
        ),
    ),
    Phrase(
        "French",
        (
            "ignore|oublie|néglige|fais abstraction|ne tiens pas compte",
            "précédent|antérieur|ci-dessus|toutes|tes|vos|système|initial",
            "instruction|consigne|règle|directive|ordre|prompt",
        ),
    ),
    Phrase(
        "Spanish",
        (
            "ignora|olvida|descarta|haz caso omiso|omite",
            "anterior|previ|arriba|todas|tus|sus|sistema|original",
            "instruccion|regla|indicacion|orden|directiv|prompt",
        ),
    ),
    Phrase(
        "Portuguese",
        (
            "ignor|esqueç|esquece|desconsider|descart",
            "anterior|prévi|acima|todas|suas|sistema|origina",
            "instruç|regra|orientaç|diretriz|comando|prompt",
        ),
    ),
    Phrase(
        "Italian",
        (
            "ignora|dimentica|trascura|scarta",
            "precedent|sopra|tutte|tue|sistema|original",
            "istruzion|regol|indicazion|direttiv|comand|prompt",
        ),
    ),
    Phrase(
        "Dutch",
        (
            "negeer|vergeet|sla over",
            "vorige|voorgaande|eerdere|bovenstaande|alle|je|systeem",
            "instructie|aanwijzing|regel|opdracht|prompt",
        ),
    ),
    Phrase(
        "Polish",
        (
            "ignoruj|zignoruj|zapomnij|pomiń",
            "poprzedni|wcześniejsz|powyższ|wszystki|swoje|twoje|system",
            "instrukcj|polece|zasad|reguł|wytyczn|prompt",
        ),
    ),
    Phrase(
        "Russian",
        (
            "игнорир|проигнорир|забудь|отбрось|не обращай внимания",
            "предыдущ|прежн|выше|все|свои|систем",
            "инструкц|правил|указан|команд|промпт|задани",
        ),
    ),
    Phrase(
        "Ukrainian",
        (
            "ігнору|проігнору|забудь|відкинь",
            "попередн|вищ|усі|всі|свої|систем",
            "інструкц|правил|вказів|команд|промпт",
        ),
    ),
    Phrase(
        "Turkish",
        (
            "yok say|görmezden gel|unut|dikkate alma|göz ardı",
            "önceki|yukarıdaki|tüm|bütün|sistem",
            "talimat|kural|yönerge|komut|istem",
        ),
    ),
    Phrase(
        "Arabic",
        (
            "تجاهل|انس|تجاوز|أهمل",
            "السابق|أعلاه|جميع|كل|النظام",
            "التعليمات|تعليمات|القواعد|الأوامر|التوجيهات",
        ),
    ),
    Phrase(
        "Persian",
        (
            "نادیده بگیر|فراموش کن|نادیده|بی‌توجه",
            "قبلی|پیشین|بالا|همه|تمام|سیستم",
            "دستور|قوانین|قواعد|دستورالعمل|راهنما",
        ),
    ),
    Phrase(
        "Hebrew",
        (
            "התעלם|התעלמי|התעלמו|שכח|שכחי|שכחו",
            "הקודמ|לעיל|כל|המערכת",
            "ההוראות|הוראות|הכללים|ההנחיות|הפקודות",
        ),
    ),
    Phrase(
        "Hindi",
        ("अनदेखा|अनदेखी|नज़रअंदाज़|नजरअंदाज|भूल जा|उपेक्षा", "पिछले|पिछली|पहले|ऊपर|सभी|सारे", "निर्देश|नियम|आदेश|अनुदेश"),
    ),
    Phrase(
        "Indonesian",
        (
            "abaikan|lupakan|kesampingkan",
            "sebelumnya|di atas|semua|sistem",
            "instruksi|perintah|aturan|petunjuk",
        ),
    ),
    Phrase(
        "Vietnamese",
        ("bỏ qua|phớt lờ|quên", "trước|ở trên|tất cả|mọi|hệ thống", "hướng dẫn|chỉ dẫn|lệnh|quy tắc|chỉ thị"),
    ),
    Phrase(
        "Chinese",
        (
            "忽略|无视|無視|忘记|忘記|不要理会|不要遵守",
            "之前|以前|上面|以上|先前|所有|系统|系統|前面",
            "指令|指示|规则|規則|提示|命令|要求",
        ),
    ),
    Phrase(
        "Japanese",
        (
            "無視|忘れ|従わない",
            "以前|上記|これまで|すべて|全て|前の|システム",
            "指示|命令|ルール|規則|プロンプト",
        ),
    ),
    Phrase(
        "Korean", ("무시|잊어|잊고", "이전|위의|앞의|모든|지금까지|시스템", "지시|명령|규칙|지침|프롬프트")
    ),
)
OTHER_OVERRIDES = (
    Phrase(
        "English",
        (
            "reveal|print|repeat|show|output|leak|tell",
            "your|the|system|hidden|initial",
            "system prompt|instructions verbatim|hidden instruction|initial prompt|prompt verbatim",
        ),
    ),
    Phrase("English", ("developer mode|jailbreak|dan mode|do anything now|god mode|unrestricted mode",)),
    Phrase("English", ("new instructions:|new system prompt|updated instructions:|important instruction",)),
    Phrase(
        "English",
        (
            "do not|don't|never|without",
            "tell|mention|reveal|inform|notif|disclos|alert|asking",
            "user|operator|owner|person|human|anyone|anybody",
        ),
    ),
)
SECRETS = (
    Phrase(
        "any",
        (
            (
                "nsec|ncryptsec|seed phrase|seed-phrase|recovery phrase|mnemonic|private key|secret key|"
                "signing key|bunker://|password|passphrase|api key|api-key|apikey|access token|credential"
            ),
        ),
    ),
    Phrase(
        "German",
        (
            (
                "privater schlüssel|privaten schlüssel|geheimer schlüssel|geheimen schlüssel|"
                "geheimschlüssel|passwort|kennwort|zugangsdaten"
            ),
        ),
    ),
    Phrase("French", ("clé privée|clef privée|clé secrète|mot de passe|phrase de récupération",)),
    Phrase("Spanish", ("clave privada|clave secreta|contraseña|frase semilla|frase de recuperación",)),
    Phrase("Portuguese", ("chave privada|chave secreta|senha|frase de recuperação",)),
    Phrase("Italian", ("chiave privata|chiave segreta|parola d'ordine",)),
    Phrase(
        "Russian",
        (
            (
                "приватный ключ|приватного ключа|приватным ключом|закрытый ключ|закрытого ключа|"
                "секретный ключ|секретного ключа|пароль|пароля|сид-фраз"
            ),
        ),
    ),
    Phrase("Turkish", ("özel anahtar|gizli anahtar|parola|şifre",)),
    Phrase("Arabic", ("المفتاح الخاص|مفتاحك الخاص|المفتاح السري|كلمة المرور|كلمة السر",)),
    Phrase("Persian", ("کلید خصوصی|کلید مخفی|رمز عبور|گذرواژه",)),
    Phrase("Hebrew", ("המפתח הפרטי|מפתח פרטי|המפתח הסודי|סיסמה|הסיסמה",)),
    Phrase("Hindi", ("निजी कुंजी|गुप्त कुंजी|पासवर्ड",)),
    Phrase("Chinese", ("私钥|私鑰|密钥|密鑰|密码|密碼|助记词|助記詞",)),
    Phrase("Japanese", ("秘密鍵|パスワード",)),
    Phrase("Korean", ("개인키|개인 키|비밀키|비밀번호",)),
)
ELSEWHERE = (
    Phrase(
        "English",
        (
            (
                "send|forward|publish|post|repost|share|copy|upload|broadcast|report|leak|exfiltrat|"
                "transmit|deliver"
            ),
            (
                "another|other group|other relay|different group|elsewhere|external|webhook|server|"
                "endpoint|this address|email|e-mail|relay|everyone|everybody|the author|the publisher|to me"
            ),
        ),
    ),
    Phrase(
        "German",
        (
            "sende|schick|veröffentliche|poste|leite|teile|kopiere|lade",
            "andere|extern|webhook|server|adresse|e-mail|relay|alle",
        ),
    ),
    Phrase(
        "French",
        (
            "envoie|envoyez|publie|poste|transfère|partage|copie",
            "autre|externe|webhook|serveur|adresse|e-mail|relais|tout le monde",
        ),
    ),
    Phrase(
        "Spanish",
        (
            "envía|envia|publica|reenvía|comparte|copia|manda",
            "otro|otra|externo|webhook|servidor|dirección|correo|relé|todos",
        ),
    ),
    Phrase(
        "Russian",
        (
            "отправь|отправля|перешли|опубликуй|скопируй|отошли",
            "друг|внешн|вебхук|сервер|адрес|почт|реле|всем|мне",
        ),
    ),
    Phrase("Chinese", ("发送|发布|转发|發送|轉發|上传", "其他|另一|外部|服务器|地址|邮箱|中继|所有人|给我")),
    Phrase("Japanese", ("送信|投稿|転送|公開", "他の|別の|外部|サーバ|アドレス|リレー|全員")),
    Phrase("Arabic", ("أرسل|انشر|حول|شارك", "آخر|أخرى|خارجي|خادم|عنوان|الجميع|إلي")),
    Phrase("Persian", ("بفرست|ارسال|منتشر|کپی", "دیگر|خارجی|سرور|نشانی|آدرس|همه|به من")),
)
