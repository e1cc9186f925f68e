const sets: Readonly<Record<string, string>> = {
  hex: '0-9a-f',
  anyHex: '0-9A-Fa-f',
  uuid: '0-9A-Fa-f-',
  lower: '0-9a-z',
  upper: '0-9A-Z',
  plain: 'A-Za-z0-9',
  word: '\\w-',
  base64: 'A-Za-z0-9+/=',
};

/**
 * Tokens with a fixed prefix, as their issuers and public scanners document them. The columns are
 * the kind, the characters after the prefix, their number, and the prefixes. A kind of a single
 * word gets the suffix `-token`. The characters are one of `sets`, or the inside of a character
 * class. If two lines share a prefix, the first that matches counts.
 */
const table = String.raw`
github \w.- 100-2000 ghs_
github plain 36-251 ghp_ gho_ ghu_ ghs_ ghr_
github \w 82 github_pat_
gitlab word 20-300 glpat- gldt- glrt- glrtr- glcbt- glptt- glagent- gloas- glft- glimt- glsoat- glffct- glwt-
gitlab word 20-300 GR1348941
bitbucket plain 32 ATBB
bitbucket \w+/@- 40-50 BBDC-
atlassian \w=- 60-300 ATATT3 ATCTT3
npm plain 36 npm_
pypi word 50-1000 pypi-AgE
rubygems hex 48 rubygems_
crates plain 32 cio
nuget lower 43 oy2
open-vsx-token uuid 36 ovsxp_ ovsxat_
clojars lower 60 CLOJARS_
docker word 27-32 dckr_pat_ dckr_oat_
docker A-Za-z0-9+/=- 43-90 SWMTKN-1- SWMKEY-1-
postman A-Za-z0-9- 59 PMAK-
postman upper 26 PMAT-
segment plain 64 sgp_
sourcegraph 0-9A-Fa-f_local 40-57 sgp_
sourcegraph hex 64 slk_
circleci \w 60-68 CCIPAT_ CCIPRJ_
buildkite \w 40-100 bkua_ bkaj_ bkct_ bkat_ bkrt_
teamcity \w.- 85 eyJ0eXAiOiAiVENWMiJ9.
sonar plain 40 squ_ sqp_ sqa_
sonar plain 59 sqco_
snyk \w.- 40-400 snyk_uat. snyk_sat.
stackhawk \w.- 41 hawk.
dtrack plain 32-255 odt_
figma \w=- 40-200 figd_ figp_
jfrog plain 69 AKCp
jfrog plain 56 cmVmdGtu
octopus upper 26 API-
prefect plain 36 pnu_ pnb_
readme lower 70 rdme_
aws-bedrock-key base64 110-272 ABSK
aws-bedrock-key base64 60-2000 bedrock-api-key-
aws-appsync-key lower 26 da2-
aws-mws-token uuid 36 amzn.mws.
alibaba-key-id plain 17-24 LTAI
tencent-key-id plain 32-36 AKID
volcengine-key-id \w=- 42-48 AKLT
scaleway upper 17 SCW
google-api-key word 35 AIza
google-api-key word 50-60 AQ.
google-client-secret word 28 GOCSPX-
google-access-token word 20-2000 ya29.
google-refresh-token word 40-200 1//0
google-key-id upper 55-57 GOOG1E
yandex word 35-38 AQVN
yandex word 55-60 y0_
yandex plain 48 ysc1_ ysc2_
yandex A-Za-z0-9. 74 dict.1.1. trnsl.1.1. pdct.1.1.
digitalocean hex 64 dop_v1_ doo_v1_ dor_v1_
heroku word 58 HRKU-AA
fly word 43 fo1_
fly base64 100-2000 fm1a_ fm1r_ fm2_lJ
defined \w=- 79 dnkey-
scalingo word 48 tk-us-
netlify \w 36 nfp_
render plain 28-32 rnd_
vercel plain 20-60 vcp_ vci_ vca_ vcr_ vck_
vercel \w 45-52 vercel_blob_rw_
deno plain 36 ddp_ ddw_
cloudflare plain 48 cfk_ cfut_ cfat_
cloudflare 0-9a-f- 171 v1.0-
databricks anyHex 32 dapi dose dkea dsapi
openshift word 43 sha256~
pulumi hex 40 pul-
doppler plain 40-44 dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.
doppler \w.- 40-80 dp.st.
vault word 24-300 hvs. hvb. hvr.
tailscale word 28-120 tskey-
1password base64 100-2000 ops_eyJ
1password 0-9A-Z- 36-37 A3-
age upper 58 AGE-SECRET-KEY-1
infracost plain 32 ico-
aiven word 19 AVNS_
astra A-Za-z0-9: 89 AstraCS:
clickhouse plain 38 4b1d
cockroach \w 63 CCDB1_
elastic base64 60-200 essu_
mongodb word 40 mdb_sa_sk_
neon lower 64 napi_
supabase lower 40 sbp_
supabase word 31-40 sb_secret_
planetscale \w=.- 32-64 pscale_tkn_ pscale_pw_ pscale_oauth_
pinecone \w 69-70 pcsk_
openai word 100-200 sk-proj- sk-svcacct- sk-service- sk-admin-
openai plain 48 sk-
deepseek hex 32 sk-
openrouter hex 64 sk-or-v1- sk-hc-v1-
anthropic word 82-122 sk-ant-api03- sk-ant-admin01- sk-ant-oat01- sk-ant-ort01- sk-ant-sid01- sk-ant-sid02-
perplexity plain 48 pplx-
groq plain 50-54 gsk_
cerebras lower 48 csk-
firecrawl hex 32 fc-
huggingface A-Za-z 34 hf_ api_org_
jina plain 60 jina_
llamaindex plain 48 llx-
replicate word 37 r8_
tavily plain 32 tvly- tvly-dev-
together word 43 tgp_v1_
voyage word 43 pa-
xai \w 80 xai-
wandb \w 60-100 wandb_v1_
nvidia word 64 nvapi-
elevenlabs hex 48 sk_
checkout uuid 36 sk_
langsmith 0-9a-f_ 43 lsv2_pt_ lsv2_sk_
langfuse uuid 36 sk-lf-
mailgun lower 32 key-
brevo A-Za-z0-9- 81 xkeysib- xsmtpsib-
twilio hex 32 SK
telnyx \w 55 KEY
axiom uuid 36 xaat- xapt-
grafana base64 32-400 glc_
grafana \w 41 glsa_
grafana base64 70-400 eyJrIjoi
honeycomb lower 58 hcaik_ hcbik_ hccik_ hcamk_
newrelic upper 27 NRAK-
newrelic hex 27-42 NRAA- NRRA-
newrelic word 25-32 NRII- NRIQ-
newrelic uuid 36 px-api- px-dep-
dynatrace A-Za-z0-9. 89 dt0c01. dt0s01. dt0s02. dt0s16.
sentry A-Za-z0-9+/=_ 80-500 sntrys_eyJ
sentry hex 64 sntryu_ sntrya_ sntryi_
pagerduty \w- 40-60 pdus+ pdeu+
posthog \w 43-48 phx_ phs_ pha_ phr_
rootly hex 64 rootly_
launchdarkly uuid 36 sdk- api-
slack-webhook A-Za-z0-9+/ 48-100 hooks.slack.com/
discord-webhook \w/- 80-100 discord.com/api/webhooks/ discordapp.com/api/webhooks/
teams-webhook A-Za-z0-9@/- 150-250 .webhook.office.com/webhookb2/ outlook.office.com/webhook/
zapier-webhook A-Za-z0-9/ 14-24 hooks.zapier.com/hooks/catch/
webhook base64 32-64 whsec_
matrix \w= 30-300 syt_
nostr lower 58 nsec1
stripe plain 20-247 sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_
square word 22-60 sq0atp- sq0csp- sq0csb-
square word 60 EAAA
asaas A-Za-z0-9+/=:_ 80-300 aact_
braintree 0-9a-z$ 49 access_token$production$ access_token$sandbox$
ebay 0-9a-f- 32-40 PRD- SBX-
gocardless \w=- 40 live_ sandbox_
lob hex 35 live_ test_
mercadopago 0-9a-f- 60-75 APP_USR-
midtrans word 24 Mid-server-
mollie plain 30 live_
paddle \w 40-60 pdl_live_apikey_ pdl_sdbx_apikey_
persona uuid 36 persona_production_ persona_sandbox_
polar word 40-70 polar_
plaid uuid 36 access-sandbox- access-development- access-production-
razorpay plain 14 rzp_live_
flutterwave A-Za-z0-9- 34 FLWSECK- FLWSECK_TEST-
flutterwave plain 12 FLWSECK_TEST-
shippo anyHex 40 shippo_live_ shippo_test_
shopify anyHex 32 shpat_ shpca_ shppa_ shpss_
flexport word 40 shltm_
easypost plain 54 EZAK EZTK
duffel \w=- 43 duffel_live_ duffel_test_
ramp plain 48 ramp_sec_
notion plain 46 ntn_
notion plain 43 secret_
linear \w 32-128 lin_api_ lin_oauth_
typeform \w=.- 40-59 tfp_
hubspot uuid 36 pat-na1- pat-na2- pat-eu1- pat-ap1-
intercom base64 54-56 dG9rO
ionic plain 42 ion_
klaviyo hex 34 pk_
adafruit plain 28 aio_
adobe word 32 p8e-
apify \w 34-60 apify_
gcnotify word 73-200 gcntfy-
contentful word 43 CFPAT-
devcycle word 36-60 dvc_server_
dropbox \w=- 130-1500 sl.
facebook plain 100-400 EAAC EAAM
frameio \w=- 64 fio-u-
intra42 hex 64 -s4t2ud- -s4t2af-
linkedin A-Za-z0-9+/=. 20-60 WPL_AP0. WPL_AP1.
mapbox \w.- 50-240 sk.eyJ tk.eyJ
onfido \w.- 44 api_live. api_sandbox. api_live_us. api_live_ca.
robinhood uuid 36 rh-api-
salesforce \w.= 80-251 5AEP861
samsara plain 30 samsara_api_
secret \w.~%/+=- 20-300 secret-token:
settlemint plain 16 sm_aat_ sm_pat_ sm_sat_
statsig plain 40-50 secret-
thunderstore plain 30 tss_
valtown plain 20-40 vtwn_
wakatime uuid 36 waka_
wakatime \w 40-100 waka_sec_ waka_tok_ waka_ref_
zoho 0-9a-f. 65 1000.
bannerbear hex 30 bb_pr_ bb_ma_
fullstory base64 80-120 na1. eu1.
nightfall plain 32 NF-
voiceflow A-Za-z0-9. 41 VF.DM. VF.WS.
zuplo \w 41 zpka_
cfx \w 24-30 cfxk_
databento plain 29 db-
dvc plain 40-60 isat_
hcaptcha anyHex 32 ES_
lichess plain 20 lip_
onesignal lower 90-120 os_v2_app_ os_v2_org_
pangea lower 32 pts_
pinterest upper 40-100 pina_
planning hex 64-72 pco_pat_ pco_tok_ pco_app_
salad \w 20-240 salad_cloud_
unkey plain 20-40 unkey_
`;

/** @internal Tests try every row. */
export const tokenTable = table
  .trim()
  .split('\n')
  .map((line) => {
    const [kind = '', set = '', length = '', ...prefixes] = line.split(' ');
    const [min = 0, max = min] = length.split('-').map(Number);
    const characters = sets[set] ?? set;
    // A token doesn't end with a period, and no other character of its set follows it.
    const last = `[${characters.replace('.', '')}]`;
    const form = `[${characters}]{${String(min - 1)},${String(max - 1)}}${last}(?!${last})`;
    const rule = kind.includes('-') ? kind : `${kind}-token`;
    return { rule, characters, min, prefixes, form: new RegExp(form, 'y') };
  });

const rowsByPrefix = new Map<string, (typeof tokenTable)[number][]>();
for (const row of tokenTable)
  for (const prefix of row.prefixes) rowsByPrefix.set(prefix, [...(rowsByPrefix.get(prefix) ?? []), row]);

export const tokenPrefixes = [...rowsByPrefix.keys()]
  .sort((one, other) => other.length - one.length)
  .map((prefix) => prefix.replace(/[.$+]/g, '\\$&'))
  .join('|');

const anyPrefix = new RegExp(tokenPrefixes, 'g');

/**
 * Tokens may begin anywhere, even right after a letter, but a prefix inside a word doesn't count
 * (`isInsideWord`). `remainder` follows the prefix.
 */
export function* tableTokens(text: string) {
  for (const { 0: prefix, index } of text.matchAll(anyPrefix)) {
    if (isInsideWord(prefix, text.slice(Math.max(0, index - 12), index))) continue;
    for (const { rule, form } of rowsByPrefix.get(prefix) ?? []) {
      form.lastIndex = index + prefix.length;
      const remainder = form.exec(text)?.[0];
      if (remainder === undefined) continue;
      yield { rule, index, prefix, remainder };
      break;
    }
  }
}

/**
 * True for a short prefix that ends a word (`task-`). Also true for a prefix of only letters and
 * digits within Base64, where it occurs by chance.
 */
function isInsideWord(prefix: string, before: string): boolean {
  return (
    (prefix.length < 5 && /[A-Za-z0-9]{2}$/.test(before)) ||
    (/^[A-Za-z0-9]+$/.test(prefix) && /^[A-Za-z0-9+/]{12}$/.test(before))
  );
}
