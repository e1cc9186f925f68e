import { text, type ReportLanguage, type RuleText, type Severity } from '../runs/reportText.ts';

/** A pattern finds the weakness in one file, which is sufficient for invented samples. */
export interface Rule extends Readonly<Record<ReportLanguage, RuleText>> {
  readonly cwe: string;
  readonly severity: Severity;
  readonly pattern: RegExp;
}

/** These weaknesses are searched in JavaScript, TypeScript, and Python. */
export const rules: readonly Rule[] = [
  {
    cwe: 'CWE-89',
    severity: 'critical',
    pattern:
      /(['"])\s*(?:select|insert\s+into|update|delete\s+from)\s[^'"\n]*\1\s*\+|`\s*(?:select|insert\s+into|update|delete\s+from)\s[^`]*\$\{[^`]*`/gi,
    english: text`SQL injection through a composed statement || The statement is put together from text and a value. Whoever controls the value can change what the statement does, read other records or delete them. || Use placeholders and pass the values separately, so that the database never reads them as part of the statement.`,
    japanese: text`文字列連結による SQL インジェクション || SQL 文を文字列と値の連結で組み立てています。値を操作できる攻撃者は、文の意味を変えて、ほかのレコードを閲覧したり削除したりできます。 || プレースホルダーを使い、値は SQL 文とは別に渡してください。`,
  },
  {
    cwe: 'CWE-78',
    severity: 'critical',
    pattern: /\bsubprocess\.\w+\([^)\n]*\bshell\s*=\s*True/g,
    english: text`Operating system command injection || A shell interprets a command that contains a value from outside. Characters such as ; or | in the value start further commands with the rights of the server. || Start the program without a shell and pass its arguments as a list. Accept only known values.`,
    japanese: text`OS コマンドインジェクション || 外部からの値を含むコマンドをシェルに渡しています。値に ; や | などが含まれると、サーバーの権限で別のコマンドが実行されます。 || シェルを介さずにプログラムを起動し、引数はリストで渡してください。受け付ける値も既知のものに限定してください。`,
  },
  {
    cwe: 'CWE-95',
    severity: 'critical',
    pattern: /\beval\((?!\s*['"])/g,
    english: text`Evaluation of text as code || Text that is not a constant is evaluated as JavaScript. Whoever controls the text runs code inside the application. || Replace the evaluation by a parser for the few expressions that are needed, or by a table of allowed operations.`,
    japanese: text`文字列のコードとしての評価 || 定数でない文字列を JavaScript として評価しています。文字列を操作できる攻撃者は、アプリケーション内で任意のコードを実行できます。 || 評価をやめ、必要な式だけを解釈するパーサーや、許可した操作の対応表に置き換えてください。`,
  },
  {
    cwe: 'CWE-502',
    severity: 'critical',
    pattern: /\byaml\.load\((?![^)\n]*SafeLoader)/g,
    english: text`Deserialization that can run code || yaml.load without a safe loader creates any object that the data asks for, and runs code on the way. || Use yaml.safe_load, or a plain format such as JSON, for data that others can write.`,
    japanese: text`コードを実行しうるデシリアライズ || 安全なローダーを指定しない yaml.load は、データの指示どおりにオブジェクトを生成し、その過程でコードを実行します。 || 他者が書き込めるデータには yaml.safe_load か、JSON などの単純な形式を使ってください。`,
  },
  {
    cwe: 'CWE-79',
    severity: 'high',
    pattern: /\.(?:inner|outer)HTML\s*=(?!\s*['"=])/g,
    english: text`Cross-site scripting || A value reaches the page as HTML without being escaped. A prepared value runs script in the session of the person who looks at it. || Write text with textContent or through a template that escapes, and add a content security policy.`,
    japanese: text`クロスサイトスクリプティング || 値がエスケープされないまま HTML としてページに出力されます。細工された値により、閲覧者のセッションでスクリプトが実行されます。 || textContent、または自動でエスケープするテンプレートを使い、コンテンツセキュリティポリシーも設定してください。`,
  },
  {
    cwe: 'CWE-22',
    severity: 'high',
    pattern:
      /\b(?:sendFile|download|readFile(?:Sync)?|createReadStream)\([^)\n]*\breq\.(?:query|params|body)\b/g,
    english: text`Path traversal in file access || A file name comes from the request. With ../ in it, files outside the intended folder can be read. || Resolve the path and refuse it unless it lies inside the intended folder, or look the file up by an identifier.`,
    japanese: text`ファイルアクセスにおけるパストラバーサル || ファイル名がリクエストから渡されています。../ を含む値により、意図したフォルダーの外にあるファイルを読み取られます。 || パスを正規化し、意図したフォルダーの外であれば拒否してください。または、識別子でファイルを引くようにしてください。`,
  },
  {
    cwe: 'CWE-918',
    severity: 'high',
    pattern: /\bfetch\([^)\n]*\breq\.(?:query|params|body)\b/g,
    english: text`Server-side request forgery || The server fetches an address that the request names. Services of the internal network and metadata endpoints come within reach. || Allow known hosts only, refuse private addresses after name resolution, and do not follow redirects.`,
    japanese: text`サーバーサイドリクエストフォージェリ (SSRF) || リクエストで指定されたアドレスへサーバーがアクセスします。内部ネットワークのサービスやメタデータエンドポイントに到達されるおそれがあります。 || 接続先を既知のホストに限定し、名前解決後のプライベートアドレスを拒否し、リダイレクトには従わないでください。`,
  },
  {
    cwe: 'CWE-798',
    severity: 'high',
    pattern: /(?:secret|password|api_?key|token)\s*[:=]\s*(['"])[^'"\n]{8,}\1/gi,
    english: text`Secret in the source code || A secret is written into the source. Everybody who can read the repository or the built program has it. || Read the secret from the environment or a secret store, and replace the one that was published.`,
    japanese: text`ソースコードに埋め込まれた秘密情報 || 秘密情報がソースコードに書かれています。リポジトリやビルド成果物を読める人は誰でも入手できます。 || 環境変数やシークレットストアから読み込むようにし、公開された秘密情報は新しいものに交換してください。`,
  },
  {
    cwe: 'CWE-328',
    severity: 'medium',
    pattern: /\bcreateHash\(\s*['"](?:md5|sha1)['"]/gi,
    english: text`Weak hash function || MD5 and SHA-1 no longer resist collisions, and both are far too fast for passwords. || Use SHA-256 for integrity, and a password hash such as scrypt or Argon2 for passwords.`,
    japanese: text`脆弱なハッシュ関数 || MD5 と SHA-1 には衝突耐性がなく、パスワードの保護に使うには計算が速すぎます。 || 完全性の確認には SHA-256 を、パスワードには scrypt や Argon2 などのパスワードハッシュを使ってください。`,
  },
  {
    cwe: 'CWE-295',
    severity: 'medium',
    pattern: /\brejectUnauthorized\s*:\s*false/g,
    english: text`Certificate check switched off || The connection accepts any certificate. Anyone on the way can read and change what is transferred. || Remove the option. For a private certificate authority, pass its certificate as ca.`,
    japanese: text`証明書検証の無効化 || どのような証明書でも接続を受け入れます。通信経路上の第三者が内容を閲覧、改ざんできます。 || このオプションを削除してください。プライベート認証局を使う場合は、その証明書を ca に指定してください。`,
  },
  {
    cwe: 'CWE-338',
    severity: 'medium',
    pattern: /(?:token|secret|password)\s*=[^;\n]*\bMath\.random\(\)/gi,
    english: text`Predictable random value || Math.random() can be predicted from earlier values. It must not protect anything. || Use crypto.randomBytes() or crypto.randomUUID().`,
    japanese: text`予測可能な乱数 || Math.random() の値は過去の出力から予測できるため、保護の目的には使えません。 || crypto.randomBytes() または crypto.randomUUID() を使ってください。`,
  },
  {
    cwe: 'CWE-1004',
    severity: 'low',
    pattern: /\bhttpOnly\s*:\s*false/g,
    english: text`Cookie readable by scripts || The cookie is set without HttpOnly. A script that gets into the page can read it. || Set httpOnly, secure and sameSite for cookies that identify a session.`,
    japanese: text`スクリプトから読み取れる Cookie || Cookie に HttpOnly が設定されていません。ページに入り込んだスクリプトから読み取られます。 || セッションを識別する Cookie には httpOnly、secure、sameSite を設定してください。`,
  },
  {
    cwe: 'CWE-546',
    severity: 'none',
    pattern: /(?:\/\/|#).*\bTODO\b.*(?:auth|secur|権限|検証)/gi,
    english: text`Open note about security || A comment says that something about security is still to be done. There is no impact by itself. || Do what the note says, or move it to the issue tracker.`,
    japanese: text`セキュリティに関する未対応のメモ || セキュリティ上の作業が残っていることを示すコメントがあります。これ自体に影響はありません。 || メモの内容に対応するか、課題管理システムに移してください。`,
  },
];
