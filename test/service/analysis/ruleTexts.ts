import type { ReportLanguage } from './reportText.ts';

/** What a finding says in one language. */
export interface RuleText {
  readonly title: string;
  readonly description: string;
  readonly recommendation: string;
}

/** The texts of every rule, in every report language, by rule. */
export const ruleTexts: Readonly<Record<string, Readonly<Record<ReportLanguage, RuleText>>>> = {
  'sql-injection': {
    english: {
      title: 'SQL injection through a composed statement',
      description:
        'The statement is put together from text and a value. Whoever controls the value can change what the statement does, read other records or delete them.',
      recommendation:
        'Use placeholders and pass the values separately, so that the database never reads them as part of the statement.',
    },
    japanese: {
      title: '文字列連結による SQL インジェクション',
      description:
        'SQL 文を文字列と値の連結で組み立てています。値を操作できる攻撃者は、文の意味を変えて、ほかのレコードを閲覧したり削除したりできます。',
      recommendation: 'プレースホルダーを使い、値は SQL 文とは別に渡してください。',
    },
  },
  'command-injection': {
    english: {
      title: 'Operating system command injection',
      description:
        'A shell interprets a command that contains a value from outside. Characters such as ; or | in the value start further commands with the rights of the server.',
      recommendation:
        'Start the program without a shell and pass its arguments as a list. Accept only known values.',
    },
    japanese: {
      title: 'OS コマンドインジェクション',
      description:
        '外部からの値を含むコマンドをシェルに渡しています。値に ; や | などが含まれると、サーバーの権限で別のコマンドが実行されます。',
      recommendation:
        'シェルを介さずにプログラムを起動し、引数はリストで渡してください。受け付ける値も既知のものに限定してください。',
    },
  },
  'code-injection': {
    english: {
      title: 'Evaluation of text as code',
      description:
        'Text that is not a constant is evaluated as JavaScript. Whoever controls the text runs code inside the application.',
      recommendation:
        'Replace the evaluation by a parser for the few expressions that are needed, or by a table of allowed operations.',
    },
    japanese: {
      title: '文字列のコードとしての評価',
      description:
        '定数でない文字列を JavaScript として評価しています。文字列を操作できる攻撃者は、アプリケーション内で任意のコードを実行できます。',
      recommendation:
        '評価をやめ、必要な式だけを解釈するパーサーや、許可した操作の対応表に置き換えてください。',
    },
  },
  'cross-site-scripting': {
    english: {
      title: 'Cross-site scripting',
      description:
        'A value reaches the page as HTML without being escaped. A prepared value runs script in the session of the person who looks at it.',
      recommendation:
        'Write text with textContent or through a template that escapes, and add a content security policy.',
    },
    japanese: {
      title: 'クロスサイトスクリプティング',
      description:
        '値がエスケープされないまま HTML としてページに出力されます。細工された値により、閲覧者のセッションでスクリプトが実行されます。',
      recommendation:
        'textContent、または自動でエスケープするテンプレートを使い、コンテンツセキュリティポリシーも設定してください。',
    },
  },
  'path-traversal': {
    english: {
      title: 'Path traversal in file access',
      description:
        'A file name comes from the request. With ../ in it, files outside the intended folder can be read.',
      recommendation:
        'Resolve the path and refuse it unless it lies inside the intended folder, or look the file up by an identifier.',
    },
    japanese: {
      title: 'ファイルアクセスにおけるパストラバーサル',
      description:
        'ファイル名がリクエストから渡されています。../ を含む値により、意図したフォルダーの外にあるファイルを読み取られます。',
      recommendation:
        'パスを正規化し、意図したフォルダーの外であれば拒否してください。または、識別子でファイルを引くようにしてください。',
    },
  },
  'server-side-request-forgery': {
    english: {
      title: 'Server-side request forgery',
      description:
        'The server fetches an address that the request names. Services of the internal network and metadata endpoints come within reach.',
      recommendation:
        'Allow known hosts only, refuse private addresses after name resolution, and do not follow redirects.',
    },
    japanese: {
      title: 'サーバーサイドリクエストフォージェリ (SSRF)',
      description:
        'リクエストで指定されたアドレスへサーバーがアクセスします。内部ネットワークのサービスやメタデータエンドポイントに到達されるおそれがあります。',
      recommendation:
        '接続先を既知のホストに限定し、名前解決後のプライベートアドレスを拒否し、リダイレクトには従わないでください。',
    },
  },
  'hard-coded-secret': {
    english: {
      title: 'Secret in the source code',
      description:
        'A secret is written into the source. Everybody who can read the repository or the built program has it.',
      recommendation:
        'Read the secret from the environment or a secret store, and replace the one that was published.',
    },
    japanese: {
      title: 'ソースコードに埋め込まれた秘密情報',
      description:
        '秘密情報がソースコードに書かれています。リポジトリやビルド成果物を読める人は誰でも入手できます。',
      recommendation:
        '環境変数やシークレットストアから読み込むようにし、公開された秘密情報は新しいものに交換してください。',
    },
  },
  'weak-hash': {
    english: {
      title: 'Weak hash function',
      description: 'MD5 and SHA-1 no longer resist collisions, and both are far too fast for passwords.',
      recommendation:
        'Use SHA-256 for integrity, and a password hash such as scrypt or Argon2 for passwords.',
    },
    japanese: {
      title: '脆弱なハッシュ関数',
      description: 'MD5 と SHA-1 には衝突耐性がなく、パスワードの保護に使うには計算が速すぎます。',
      recommendation:
        '完全性の確認には SHA-256 を、パスワードには scrypt や Argon2 などのパスワードハッシュを使ってください。',
    },
  },
  'predictable-random': {
    english: {
      title: 'Predictable random value',
      description: 'Math.random() can be predicted from earlier values. It must not protect anything.',
      recommendation: 'Use crypto.randomBytes() or crypto.randomUUID().',
    },
    japanese: {
      title: '予測可能な乱数',
      description: 'Math.random() の値は過去の出力から予測できるため、保護の目的には使えません。',
      recommendation: 'crypto.randomBytes() または crypto.randomUUID() を使ってください。',
    },
  },
  'certificate-check-off': {
    english: {
      title: 'Certificate check switched off',
      description:
        'The connection accepts any certificate. Anyone on the way can read and change what is transferred.',
      recommendation: 'Remove the option. For a private certificate authority, pass its certificate as ca.',
    },
    japanese: {
      title: '証明書検証の無効化',
      description: 'どのような証明書でも接続を受け入れます。通信経路上の第三者が内容を閲覧、改ざんできます。',
      recommendation:
        'このオプションを削除してください。プライベート認証局を使う場合は、その証明書を ca に指定してください。',
    },
  },
  'open-redirect': {
    english: {
      title: 'Open redirect',
      description:
        'The destination of the redirect comes from the request. A link to this site can lead to a copy of its sign-in page elsewhere.',
      recommendation: 'Redirect to paths of this site only, or to destinations from a list.',
    },
    japanese: {
      title: 'オープンリダイレクト',
      description:
        'リダイレクト先がリクエストから渡されています。このサイトへのリンクから、偽のサインインページへ誘導されるおそれがあります。',
      recommendation: 'リダイレクト先をこのサイト内のパス、または一覧にある宛先に限定してください。',
    },
  },
  'script-readable-cookie': {
    english: {
      title: 'Cookie readable by scripts',
      description: 'The cookie is set without HttpOnly. A script that gets into the page can read it.',
      recommendation: 'Set httpOnly, secure and sameSite for cookies that identify a session.',
    },
    japanese: {
      title: 'スクリプトから読み取れる Cookie',
      description:
        'Cookie に HttpOnly が設定されていません。ページに入り込んだスクリプトから読み取られます。',
      recommendation: 'セッションを識別する Cookie には httpOnly、secure、sameSite を設定してください。',
    },
  },
  'stack-disclosure': {
    english: {
      title: 'Stack trace sent to the client',
      description:
        'The answer contains a stack trace. It tells an attacker about paths, libraries and their versions.',
      recommendation: 'Log the error on the server and answer with a general message.',
    },
    japanese: {
      title: 'スタックトレースの漏えい',
      description:
        '応答にスタックトレースが含まれています。パスやライブラリ、バージョンの情報が攻撃者に伝わります。',
      recommendation:
        'エラーの詳細はサーバー側のログに記録し、応答には一般的なメッセージだけを返してください。',
    },
  },
  'unsafe-deserialization': {
    english: {
      title: 'Deserialization that can run code',
      description:
        'pickle and yaml.load without a safe loader create any object that the data asks for, and run code on the way.',
      recommendation: 'Use yaml.safe_load, or a plain format such as JSON, for data that others can write.',
    },
    japanese: {
      title: 'コードを実行しうるデシリアライズ',
      description:
        'pickle や、安全なローダーを指定しない yaml.load は、データの指示どおりにオブジェクトを生成し、その過程でコードを実行します。',
      recommendation: '他者が書き込めるデータには yaml.safe_load か、JSON などの単純な形式を使ってください。',
    },
  },
  'predictable-file-name': {
    english: {
      title: 'Temporary file with a race',
      description:
        'Between the choice of the name and the creation of the file, somebody else can create it.',
      recommendation: 'Use tempfile.NamedTemporaryFile or tempfile.mkstemp.',
    },
    japanese: {
      title: '一時ファイル名の競合',
      description: '名前を決めてからファイルを作成するまでの間に、第三者が同名のファイルを作成できます。',
      recommendation: 'tempfile.NamedTemporaryFile または tempfile.mkstemp を使ってください。',
    },
  },
  'open-security-note': {
    english: {
      title: 'Open note about security',
      description:
        'A comment says that something about security is still to be done. There is no impact by itself.',
      recommendation: 'Do what the note says, or move it to the issue tracker.',
    },
    japanese: {
      title: 'セキュリティに関する未対応のメモ',
      description:
        'セキュリティ上の作業が残っていることを示すコメントがあります。これ自体に影響はありません。',
      recommendation: 'メモの内容に対応するか、課題管理システムに移してください。',
    },
  },
};
