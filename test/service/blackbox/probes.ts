import { text, type ReportLanguage, type RuleText, type Severity } from '../runs/reportText.ts';
import type { Feature, Perspective } from './blackboxSchemas.ts';
import type { Answer, Visitor } from './visitor.ts';

/** Tests a feature from one perspective, sufficient for the invented application. */
interface Probe extends Readonly<Record<ReportLanguage, RuleText>> {
  readonly cwe: string;
  readonly severity: Severity;
  readonly isApplicable: (feature: Feature) => boolean;
  /** Resolves to request and response if there is a weakness; `user` may use the feature, `others` may not. */
  readonly look: (feature: Feature, user: Visitor, others: readonly Visitor[]) => Promise<string | undefined>;
}

const STRANGER = 'https://attacker.invalid';
const WRONG_PASSWORDS = 5;

const isAnonymous = ({ roles }: Feature) => roles.includes('anonymous');
const asksPassword = ({ parameters }: Feature) => parameters.some(({ type }) => type === 'password');
const takesValues = (feature: Feature) => feature.parameters.length > 0 && !asksPassword(feature);
const REDIRECTING = /^(?:to|next|url|return|redirect)/i;

/** Injects a value into each parameter until an answer shows the weakness. */
async function inject(
  feature: Feature,
  user: Visitor,
  value: string,
  isWeak: (answer: Answer) => boolean,
): Promise<string | undefined> {
  for (const { name } of feature.parameters) {
    const answer = await user.use(feature, { [name]: value });
    if (isWeak(answer))
      return `${name}=${value} → ${answer.status} ${answer.headers.get('location') ?? answer.body.slice(0, 200)}`;
  }
  return undefined;
}

/** A pair whose perspective is missing here, or not applicable to the feature, is skipped. */
export const probes: Partial<Record<Perspective, Probe>> = {
  Injection: {
    cwe: 'CWE-89',
    severity: 'critical',
    isApplicable: takesValues,
    look: (feature, user) =>
      inject(feature, user, "1'", ({ status, body }) => status >= 500 && /\bsql\b/i.test(body)),
    english: text(
      'SQL injection',
      'A quote in a parameter breaks the statement that the application composes.',
      'Use placeholders and pass the values separately.',
    ),
    japanese: text(
      'SQL インジェクション',
      'パラメーターの引用符により、アプリケーションが組み立てる SQL 文が壊れます。',
      'プレースホルダーを使い、値は SQL 文とは別に渡してください。',
    ),
  },
  XSS: {
    cwe: 'CWE-79',
    severity: 'high',
    isApplicable: takesValues,
    look: (feature, user) =>
      inject(feature, user, '<i>invented</i>', ({ body }) => body.includes('<i>invented</i>')),
    english: text(
      'Reflected cross-site scripting',
      'A parameter comes back in the page as HTML.',
      'Escape values where they are written into a page.',
    ),
    japanese: text(
      '反射型クロスサイトスクリプティング',
      'パラメーターの値が、エスケープされないまま HTML としてページに出力されます。',
      '値をページに出力する箇所でエスケープしてください。',
    ),
  },
  CSRF: {
    cwe: 'CWE-352',
    severity: 'medium',
    isApplicable: (feature) => feature.method === 'POST' && !asksPassword(feature),
    async look(feature, user) {
      const tokens = feature.parameters.filter(({ type }) => type === 'hidden').map(({ name }) => [name, '']);
      const values = Object.fromEntries(tokens) as Record<string, string>;
      const { status } = await user.use(feature, values, { origin: STRANGER });
      return status < 400 ? `Origin: ${STRANGER} → ${status}` : undefined;
    },
    english: text(
      'Cross-site request forgery',
      'The form is accepted from another site and without a token.',
      'Require a token that belongs to the session, and SameSite cookies.',
    ),
    japanese: text(
      'クロスサイトリクエストフォージェリ (CSRF)',
      '別サイトからの、トークンのないフォーム送信が受け付けられます。',
      'セッションに紐づくトークンを必須とし、Cookie に SameSite を設定してください。',
    ),
  },
  Authorization: {
    cwe: 'CWE-862',
    severity: 'high',
    isApplicable: (feature) => feature.method === 'GET' && !isAnonymous(feature),
    async look(feature, _user, others) {
      for (const other of others) {
        const { status } = await other.use(feature);
        if (status === 200) return `${other.role} → 200`;
      }
      return undefined;
    },
    english: text(
      'Missing authorization check',
      'A page that is shown to some roles only answers others, too.',
      'Check the role on the server for every request.',
    ),
    japanese: text(
      '認可チェックの欠如',
      '特定のロールにだけ表示されるページが、ほかの利用者にも応答します。',
      'リクエストごとにサーバー側でロールを確認してください。',
    ),
  },
  OpenRedirect: {
    cwe: 'CWE-601',
    severity: 'low',
    isApplicable: ({ parameters }) => parameters.some(({ name }) => REDIRECTING.test(name)),
    look: (feature, user) =>
      inject(
        feature,
        user,
        STRANGER,
        ({ headers }) => headers.get('location')?.startsWith(STRANGER) ?? false,
      ),
    english: text(
      'Open redirect',
      'A parameter decides to which site the person is sent.',
      'Redirect to known paths only.',
    ),
    japanese: text(
      'オープンリダイレクト',
      'パラメーターの値によって、利用者が任意のサイトへ移動させられます。',
      'リダイレクト先は既知のパスに限定してください。',
    ),
  },
  Authentication: {
    cwe: 'CWE-307',
    severity: 'medium',
    isApplicable: asksPassword,
    async look(feature, user) {
      for (let attempt = 1; attempt <= WRONG_PASSWORDS; attempt++) {
        const { status } = await user.use(feature, {});
        if (status === 429) return undefined;
      }
      return `${WRONG_PASSWORDS} wrong passwords in a row → no 429`;
    },
    english: text(
      'Unlimited attempts to sign in',
      'Wrong passwords are taken one after the other, without a delay or a limit.',
      'Limit attempts by account and by address.',
    ),
    japanese: text(
      'ログイン試行回数の制限なし',
      '誤ったパスワードを何度でも続けて試行できます。',
      'アカウントおよびアドレスごとに試行回数を制限してください。',
    ),
  },
  Clickjacking: {
    cwe: 'CWE-1021',
    severity: 'low',
    isApplicable: (feature) => feature.method === 'GET' && !isAnonymous(feature),
    async look(feature, user) {
      const { status, headers } = await user.use(feature);
      const isFramed =
        !headers.has('x-frame-options') &&
        !/frame-ancestors/.test(headers.get('content-security-policy') ?? '');
      return status === 200 && isFramed ? 'neither X-Frame-Options nor frame-ancestors' : undefined;
    },
    english: text(
      'Page can be framed',
      'Another site can lay a signed-in page invisibly below its own buttons.',
      "Send Content-Security-Policy: frame-ancestors 'none'.",
    ),
    japanese: text(
      'クリックジャッキング',
      'ログイン後のページを、別サイトが透明なフレームとして重ねて表示できます。',
      "Content-Security-Policy: frame-ancestors 'none' を送信してください。",
    ),
  },
  CORS: {
    cwe: 'CWE-942',
    severity: 'medium',
    isApplicable: ({ method }) => method === 'GET',
    async look(feature, user) {
      const { headers } = await user.use(feature, {}, { origin: STRANGER });
      const isOpen = headers.get('access-control-allow-origin') === STRANGER;
      return isOpen && headers.get('access-control-allow-credentials') === 'true'
        ? `Origin: ${STRANGER} is allowed with credentials`
        : undefined;
    },
    english: text(
      'Permissive cross-origin access',
      'Any site may read the answer with the cookies of the person.',
      'Allow known origins only.',
    ),
    japanese: text(
      '過度に緩いオリジン間共有 (CORS)',
      '任意のサイトが、利用者の Cookie を伴う応答を読み取れます。',
      '許可するオリジンを既知のものに限定してください。',
    ),
  },
};
