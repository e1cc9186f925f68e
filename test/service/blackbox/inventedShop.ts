import { text, type ReportLanguage, type RuleText, type Severity } from '../runs/reportText.ts';
import type { AssessmentInput, Feature, Perspective } from './blackboxSchemas.ts';

/** Blackbox runs are about this application, whatever their target URLs. It doesn't really run. */
export const inventedShop = {
  /** The origin has no slash at its end. */
  origin: 'http://127.0.0.1:4321',
  /** These accounts can sign in. They have the form of credentials in a dispatch (section 2.6). */
  credentials: [
    { id: 'alice@shop.example', password: 'invented-password-1', role: 'buyer' },
    { id: 'root@shop.example', password: 'invented-password-2', role: 'admin' },
  ],
} as const;

type Page = Pick<Feature, 'name' | 'method' | 'roles' | 'parameters'> & { readonly path: string };

function page(at: string, title: string, roles: string, ...parameters: readonly string[]): Page {
  const [method, path] = at.split(' ') as [Page['method'], string];
  return {
    name: title === '' ? at : `${title} (${at})`,
    method,
    path,
    roles: roles.split(' '),
    parameters: parameters.map((parameter) => {
      const [name = '', type = 'text', value = ''] = parameter.split(':');
      return { name, type, value };
    }),
  };
}

const everyone = 'anonymous buyer admin';
const pages: readonly Page[] = [
  page('GET /', 'Invented Shop', everyone),
  page('GET /catalogue', 'Catalogue', everyone),
  page('GET /search', 'Search', everyone, 'q'),
  page('GET /contact', 'お問い合わせ', everyone),
  page('POST /contact', '送信', everyone, 'csrf_token:hidden:invented', 'message'),
  page('GET /go', '', everyone, 'to:query:/catalogue'),
  page('GET /login', 'Sign in', 'anonymous'),
  page('POST /login', 'Sign in', 'anonymous', 'id', 'password:password'),
  page('GET /product', 'Product', everyone, 'id:query:1'),
  page('GET /prices', '', everyone),
  page('GET /account', 'Account', 'buyer admin'),
  page('POST /account/address', 'Change address', 'buyer admin', 'address'),
  page('GET /orders', 'Orders', 'buyer admin'),
  page('GET /admin', 'Administration', 'admin'),
];

/**
 * Only the page `at` has the weakness. If the weakness is not applicable to another page, the pair
 * of that page and this perspective is skipped.
 */
interface Weakness extends Readonly<Record<ReportLanguage, RuleText>> {
  readonly cwe: string;
  readonly severity: Severity;
  readonly isApplicable: (page: Page) => boolean;
  readonly at: string;
  readonly evidence: string;
}

const isPublic = ({ roles }: Page) => roles.includes('anonymous');
const asksPassword = ({ parameters }: Page) => parameters.some(({ type }) => type === 'password');
const takesValues = (page: Page) => page.parameters.length > 0 && !asksPassword(page);
const isPrivatePage = (page: Page) => page.method === 'GET' && !isPublic(page);

const weaknesses: Partial<Record<Perspective, Weakness>> = {
  Injection: {
    cwe: 'CWE-89',
    severity: 'critical',
    isApplicable: takesValues,
    at: 'GET /product',
    evidence: "id=1' → 500 SQL error: unrecognized token in SELECT * FROM products WHERE id = '",
    english: text`SQL injection || A quote in a parameter breaks the statement that the application composes. || Use placeholders and pass the values separately.`,
    japanese: text`SQL インジェクション || パラメーターの引用符により、アプリケーションが組み立てる SQL 文が壊れます。 || プレースホルダーを使い、値は SQL 文とは別に渡してください。`,
  },
  XSS: {
    cwe: 'CWE-79',
    severity: 'high',
    isApplicable: takesValues,
    at: 'GET /search',
    evidence: 'q=<i>invented</i> → 200 <!doctype html><title>Search</title>No match for <i>invented</i>',
    english: text`Reflected cross-site scripting || A parameter comes back in the page as HTML. || Escape values where they are written into a page.`,
    japanese: text`反射型クロスサイトスクリプティング || パラメーターの値が、エスケープされないまま HTML としてページに出力されます。 || 値をページに出力する箇所でエスケープしてください。`,
  },
  CSRF: {
    cwe: 'CWE-352',
    severity: 'medium',
    isApplicable: (page) => page.method === 'POST' && !asksPassword(page),
    at: 'POST /account/address',
    evidence: 'Origin: https://attacker.invalid → 303',
    english: text`Cross-site request forgery || The form is accepted from another site and without a token. || Require a token that belongs to the session, and SameSite cookies.`,
    japanese: text`クロスサイトリクエストフォージェリ (CSRF) || 別サイトからの、トークンのないフォーム送信が受け付けられます。 || セッションに紐づくトークンを必須とし、Cookie に SameSite を設定してください。`,
  },
  Authorization: {
    cwe: 'CWE-862',
    severity: 'high',
    isApplicable: isPrivatePage,
    at: 'GET /admin',
    evidence: 'anonymous → 200',
    english: text`Missing authorization check || A page that is shown to some roles only answers others, too. || Check the role on the server for every request.`,
    japanese: text`認可チェックの欠如 || 特定のロールにだけ表示されるページが、ほかの利用者にも応答します。 || リクエストごとにサーバー側でロールを確認してください。`,
  },
  OpenRedirect: {
    cwe: 'CWE-601',
    severity: 'low',
    isApplicable: ({ parameters }) => parameters.some(({ name }) => name === 'to'),
    at: 'GET /go',
    evidence: 'to=https://attacker.invalid → 303 https://attacker.invalid',
    english: text`Open redirect || A parameter decides to which site the person is sent. || Redirect to known paths only.`,
    japanese: text`オープンリダイレクト || パラメーターの値によって、利用者が任意のサイトへ移動させられます。 || リダイレクト先は既知のパスに限定してください。`,
  },
  Authentication: {
    cwe: 'CWE-307',
    severity: 'medium',
    isApplicable: asksPassword,
    at: 'POST /login',
    evidence: '5 wrong passwords in a row → no 429',
    english: text`Unlimited attempts to sign in || Wrong passwords are taken one after the other, without a delay or a limit. || Limit attempts by account and by address.`,
    japanese: text`ログイン試行回数の制限なし || 誤ったパスワードを何度でも続けて試行できます。 || アカウントおよびアドレスごとに試行回数を制限してください。`,
  },
  Clickjacking: {
    cwe: 'CWE-1021',
    severity: 'low',
    isApplicable: isPrivatePage,
    at: 'GET /account',
    evidence: 'neither X-Frame-Options nor frame-ancestors',
    english: text`Page can be framed || Another site can lay a signed-in page invisibly below its own buttons. || Send Content-Security-Policy: frame-ancestors 'none'.`,
    japanese: text`クリックジャッキング || ログイン後のページを、別サイトが透明なフレームとして重ねて表示できます。 || Content-Security-Policy: frame-ancestors 'none' を送信してください。`,
  },
  CORS: {
    cwe: 'CWE-942',
    severity: 'medium',
    isApplicable: ({ method }) => method === 'GET',
    at: 'GET /prices',
    evidence: 'Origin: https://attacker.invalid is allowed with credentials',
    english: text`Permissive cross-origin access || Any site may read the answer with the cookies of the person. || Allow known origins only.`,
    japanese: text`過度に緩いオリジン間共有 (CORS) || 任意のサイトが、利用者の Cookie を伴う応答を読み取れます。 || 許可するオリジンを既知のものに限定してください。`,
  },
};

type Input = Pick<AssessmentInput, 'target_urls' | 'oos_urls' | 'authentication'>;

/** Omits pages that the roles of the input can't see, and what is out of scope. */
function pagesFor(input: Input): Page[] {
  const excluded = input.oos_urls?.map((url) => new URL(url).pathname) ?? [];
  const accounts = input.authentication?.credentials ?? [];
  const roles = inventedShop.credentials
    .filter(({ id, password }) => accounts.some((each) => each.id === id && each.password === password))
    .map(({ role }) => role);
  return pages
    .filter(({ path }) => !excluded.includes(path))
    .map((page) => ({
      ...page,
      roles: page.roles.filter((role) => role === 'anonymous' || roles.some((each) => each === role)),
    }))
    .filter((page) => page.roles.length > 0);
}

function urlOf({ path }: Page, { target_urls: [target] }: Input): string {
  return new URL(path, target).href;
}

/** Returns the known features, and at most one new feature for each credit of `limit`. */
export function crawl(input: Input, known: readonly Feature[], limit = Infinity): Feature[] {
  const isKnown = (page: Page) => known.some(({ name }) => name === page.name);
  const found = pagesFor(input).filter((page) => !isKnown(page));
  const features = found.slice(0, limit).map((page) => {
    const { path, ...feature } = page;
    return { ...feature, description: `${page.method} ${path}`, url: urlOf(page, input) };
  });
  return [...known, ...features];
}

/**
 * Returns undefined if the input doesn't reach the page or the perspective is not applicable, and
 * null if the page has no weakness.
 */
export function probe(input: Input & Pick<AssessmentInput, 'language'>, name: string, of: Perspective) {
  const page = pagesFor(input).find((each) => each.name === name);
  const weakness = weaknesses[of];
  if (!page || !weakness?.isApplicable(page)) return undefined;
  const { method, path } = page;
  if (weakness.at !== `${method} ${path}`) return null;
  const { cwe, severity, evidence, [input.language]: words } = weakness;
  return { ...words, cwe, severity, method, url: urlOf(page, input), evidence };
}
