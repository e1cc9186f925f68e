const hex = '0-9a-f';
const anyHex = '0-9A-Fa-f';
const uuid = '0-9A-Fa-f-';
const lower = '0-9a-z';
const upper = '0-9A-Z';
const letters = 'A-Za-z';
const plain = 'A-Za-z0-9';
const word = '\\w-';
const base64 = 'A-Za-z0-9+/=';

/** `characters` is the inside of a character class, for what follows the prefix. Of two rows with one prefix, the first that matches counts. */
type Row = readonly [kind: string, prefixes: string, characters: string, min: number, max?: number];

/**
 * Tokens with a fixed prefix, as their issuers and public scanners document them. A prefix is only listed if it is long enough to raise no false alarms.
 * @internal Tests try every row.
 */
export const tokenTable: readonly Row[] = [
  // Code, packages, builds
  ['github-token', 'ghs_', '\\w.-', 100, 2000],
  ['github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', plain, 36],
  ['github-token', 'github_pat_', '\\w', 82],
  [
    'gitlab-token',
    'glpat- gldt- glrt- glcbt- glptt- glagent- gloas- glft- glimt- glsoat- glffct- GR1348941',
    word,
    20,
    300,
  ],
  ['bitbucket-token', 'ATBB', plain, 32],
  ['bitbucket-token', 'BBDC-', '\\w+/@-', 40, 50],
  ['atlassian-token', 'ATATT3 ATCTT3', '\\w=-', 60, 300],
  ['npm-token', 'npm_', plain, 36],
  ['pypi-token', 'pypi-AgE', word, 50, 1000],
  ['rubygems-token', 'rubygems_', hex, 48],
  ['clojars-token', 'CLOJARS_', lower, 60],
  ['docker-token', 'dckr_pat_ dckr_oat_', word, 27, 32],
  ['postman-key', 'PMAK-', `${plain}-`, 59],
  ['sourcegraph-token', 'sgp_', `${anyHex}_local`, 40, 57],
  ['sourcegraph-token', 'slk_', hex, 64],
  ['circleci-token', 'CCIPAT_', '\\w', 63],
  ['buildkite-token', 'bkua_', lower, 40],
  ['sonar-token', 'squ_ sqp_ sqa_', plain, 40],
  ['sonar-token', 'sqco_', plain, 59],
  ['figma-token', 'figd_ figp_', '\\w=-', 40, 200],
  ['jfrog-token', 'AKCp', plain, 69],
  ['jfrog-token', 'cmVmdGtu', plain, 56],
  ['octopus-key', 'API-', upper, 26],
  ['prefect-token', 'pnu_', plain, 36],
  ['readme-token', 'rdme_', lower, 70],
  // Clouds, hosting, infrastructure
  ['aws-bedrock-key', 'ABSK', base64, 110, 272],
  ['aws-bedrock-key', 'bedrock-api-key-', base64, 60, 2000],
  ['alibaba-key-id', 'LTAI', plain, 17, 24],
  ['google-api-key', 'AIzaSy', word, 33],
  ['google-client-secret', 'GOCSPX-', word, 28],
  ['google-access-token', 'ya29.', word, 30, 2000],
  ['yandex-key', 'AQVN', word, 35, 38],
  ['digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', hex, 64],
  ['heroku-key', 'HRKU-AA', word, 58],
  ['fly-token', 'fo1_', word, 43],
  ['fly-token', 'fm1a_ fm1r_ fm2_lJ', base64, 100, 2000],
  ['defined-networking-key', 'dnkey-', '\\w=-', 79],
  ['scalingo-token', 'tk-us-', word, 48],
  ['netlify-token', 'nfp_', '\\w', 36],
  ['vercel-token', 'vcp_ vci_ vca_ vcr_ vck_', plain, 20, 60],
  ['deno-token', 'ddp_ ddw_', plain, 36],
  ['cloudflare-token', 'cfk_ cfut_ cfat_', plain, 48],
  ['cloudflare-token', 'v1.0-', `${hex}-`, 171],
  ['databricks-token', 'dapi', anyHex, 32],
  ['openshift-token', 'sha256~', word, 43],
  ['pulumi-token', 'pul-', hex, 40],
  ['doppler-token', 'dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.', plain, 40, 44],
  ['doppler-token', 'dp.st.', '\\w.-', 40, 80],
  ['vault-token', 'hvs. hvb. hvr.', word, 90, 300],
  ['tailscale-key', 'tskey-', word, 28, 120],
  ['1password-token', 'ops_eyJ', base64, 100, 2000],
  ['1password-key', 'A3-', `${upper}-`, 36, 37],
  ['age-secret-key', 'AGE-SECRET-KEY-1', upper, 58],
  // Databases
  ['supabase-token', 'sbp_', lower, 40],
  ['planetscale-token', 'pscale_tkn_ pscale_pw_ pscale_oauth_', '\\w=.-', 32, 64],
  ['pinecone-key', 'pcsk_', '\\w', 69, 70],
  // AI
  ['openai-key', 'sk-proj- sk-svcacct- sk-service- sk-admin-', word, 100, 200],
  ['openrouter-key', 'sk-or-v1-', hex, 64],
  ['perplexity-key', 'pplx-', plain, 48],
  ['groq-key', 'gsk_', plain, 52],
  ['huggingface-token', 'hf_ api_org_', letters, 34],
  ['replicate-token', 'r8_', word, 37],
  ['xai-key', 'xai-', '\\w', 80],
  ['nvidia-key', 'nvapi-', word, 64],
  ['elevenlabs-key', 'sk_', hex, 48],
  ['langsmith-key', 'lsv2_pt_ lsv2_sk_', `${hex}_`, 43],
  ['langfuse-key', 'sk-lf-', uuid, 36],
  // Mail, telephony, observability
  ['mailgun-key', 'key-', lower, 32],
  ['brevo-key', 'xkeysib- xsmtpsib-', `${plain}-`, 81],
  ['twilio-key', 'SK', hex, 32],
  ['grafana-token', 'glc_', base64, 32, 400],
  ['grafana-token', 'glsa_', '\\w', 41],
  ['grafana-token', 'eyJrIjoi', base64, 70, 400],
  ['newrelic-key', 'NRAK-', upper, 27],
  ['newrelic-key', 'NRII- NRIQ-', word, 25, 32],
  ['dynatrace-token', 'dt0c01.', `${plain}.`, 89],
  ['sentry-token', 'sntrys_eyJ', `${base64}_`, 80, 500],
  ['sentry-token', 'sntryu_', hex, 64],
  ['posthog-key', 'phx_', '\\w', 43, 48],
  ['rootly-token', 'rootly_', hex, 64],
  ['launchdarkly-key', 'sdk-', uuid, 36],
  // Chat and webhooks
  [
    'slack-webhook',
    'hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/',
    `${plain}+/`,
    40,
    90,
  ],
  ['discord-webhook', 'discord.com/api/webhooks/ discordapp.com/api/webhooks/', '\\w/-', 80, 100],
  ['teams-webhook', '.webhook.office.com/webhookb2/', `${plain}@/-`, 150, 250],
  ['zapier-webhook', 'hooks.zapier.com/hooks/catch/', `${plain}/`, 14, 24],
  ['webhook-secret', 'whsec_', base64, 32, 64],
  // Payments and shops
  ['stripe-key', 'sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_', plain, 20, 247],
  ['square-token', 'sq0atp- sq0csp-', word, 22, 60],
  ['square-token', 'EAAA', word, 60],
  ['plaid-token', 'access-sandbox- access-development- access-production-', uuid, 36],
  ['razorpay-key', 'rzp_live_', plain, 14],
  ['flutterwave-key', 'FLWSECK- FLWSECK_TEST-', `${plain}-`, 34],
  ['flutterwave-key', 'FLWSECK_TEST-', plain, 12],
  ['shippo-token', 'shippo_live_ shippo_test_', anyHex, 40],
  ['shopify-token', 'shpat_ shpca_ shppa_ shpss_', anyHex, 32],
  ['flexport-token', 'shltm_', word, 40],
  ['easypost-key', 'EZAK EZTK', plain, 54],
  ['duffel-token', 'duffel_live_ duffel_test_', '\\w=-', 43],
  ['ramp-secret', 'ramp_sec_', plain, 48],
  // Other services
  ['notion-token', 'ntn_', plain, 46],
  ['notion-token', 'secret_', plain, 43],
  ['linear-key', 'lin_api_', '\\w', 32, 128],
  ['typeform-token', 'tfp_', '\\w=.-', 40, 59],
  ['hubspot-token', 'pat-na1- pat-eu1-', uuid, 36],
  ['klaviyo-key', 'pk_', hex, 34],
  ['adafruit-key', 'aio_', plain, 28],
  ['adobe-secret', 'p8e-', plain, 32],
  ['apify-token', 'apify_api_', plain, 36],
  ['contentful-token', 'CFPAT-', word, 43],
  ['dropbox-token', 'sl.', '\\w=-', 130, 1500],
  ['facebook-token', 'EAAC EAAM', plain, 100, 400],
  ['frameio-token', 'fio-u-', '\\w=-', 64],
  ['intra42-secret', 's-s4t2ud- s-s4t2af- u-s4t2ud- u-s4t2af-', hex, 64],
  ['mapbox-token', 'sk.eyJ', '\\w.-', 60, 240],
  ['robinhood-key', 'rh-api-', uuid, 36],
  ['salesforce-token', '5AEP861', '\\w.=', 80, 251],
  ['settlemint-token', 'sm_aat_ sm_pat_ sm_sat_', plain, 16],
  ['zoho-token', '1000.', `${hex}.`, 65],
];

interface Form {
  readonly rule: string;
  /** Sticky, for what follows the prefix. */
  readonly rest: RegExp;
}

/** Ends with another character than a full stop, and before one that the token cannot have. */
function toForm([rule, , characters, min, max = min]: Row): Form {
  const last = `[${characters.replace('.', '')}]`;
  return {
    rule,
    rest: new RegExp(`[${characters}]{${String(min - 1)},${String(max - 1)}}${last}(?!${last})`, 'y'),
  };
}

const forms = new Map<string, Form[]>();
for (const row of tokenTable)
  for (const prefix of row[1].split(' ')) forms.set(prefix, [...(forms.get(prefix) ?? []), toForm(row)]);

/** The prefixes as a pattern, the longest first. */
export const tokenPrefixes = [...forms.keys()]
  .sort((one, other) => other.length - one.length)
  .map((prefix) => prefix.replaceAll('.', '\\.'))
  .join('|');

const anyPrefix = new RegExp(tokenPrefixes, 'g');

export interface TableToken {
  readonly rule: string;
  readonly index: number;
  readonly prefix: string;
  readonly rest: string;
}

/** Tokens may begin anywhere, also right behind a letter. */
export function* tableTokens(text: string): Generator<TableToken> {
  for (const { 0: prefix, index } of text.matchAll(anyPrefix)) {
    if (isInsideBase64(text, prefix, index)) continue;
    for (const { rule, rest } of forms.get(prefix) ?? []) {
      rest.lastIndex = index + prefix.length;
      const match = rest.exec(text)?.[0];
      if (match === undefined) continue;
      yield { rule, index, prefix, rest: match };
      break;
    }
  }
}

/** A prefix of letters and digits alone occurs by chance in long Base64. */
function isInsideBase64(text: string, prefix: string, index: number): boolean {
  return (
    /^[A-Za-z0-9]+$/.test(prefix) && /^[A-Za-z0-9+/]{20}$/.test(text.slice(Math.max(0, index - 20), index))
  );
}
