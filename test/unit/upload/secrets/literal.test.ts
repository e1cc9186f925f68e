import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finders } from '../../../../src/core/upload/secrets/findSecrets.ts';

const assignmentsIn = (text: string, path: string): number =>
  finders.flatMap((find) => find(text, path)).filter(({ rule }) => rule === 'assignment').length;

const assigned = {
  'app.env': [
    ...['DB_PASSWORD=hunter2', 'export API_KEY="k3y-0f-m1ne"', 'SECRET_KEY_BASE=1\nJWT_SECRET=correct-horse-battery'],
  ], // prettier-ignore
  'app.conf': ['password = s3cr3t-w0rd', 'db.password: Tr0ub4dor&3'],
  'docker-compose.yml': ['      MYSQL_ROOT_PASSWORD: hunter22', '      - REDIS_PASSWORD=hunter22'],
  Dockerfile: ['ENV API_TOKEN=8f14e45fceea167a'],
  'settings.json': ['{"clientSecret":"8f14e45fceea167a5a36"}', '{"dbPass": "8f14e45f!eea"}'],
  'settings.xml': ['<password>s3cr3t!w0rd</password>', '<add value="Server=db;Password=s3cr3t!w0rd;"/>'],
  'prod.tfvars': ['db_password = "8f14e45fceea"'],
  'settings.py': ["SECRET_KEY = 'x8f14e45f!ceea'", "'PASSWORD': 'x8f14e45f!ceea',"],
  Makefile: [
    ...['API_TOKEN := "x8f14e45f!ceea"', 'API_TOKEN ?= "x8f14e45f!ceea"', 'API_TOKEN :::= "x8f14e45f!ceea"'],
  ], // prettier-ignore
  'logstash.conf': ['"token" => "x8f14e45f!ceea"'],
  'compose.yml': [
    ...['DB_PASSWORD: ${DB_PASSWORD:-h7x9q2z4m1}', 'DB: pg://app:${DB_PASSWORD:-h7x9q2z4m1}@db'],
    ...['password: "${X1:-h7x9q2z4m1}"', 'secret: MohY0/2zSQw/psWEnejC2ka3Al0oifvY4YjOkUaFfnI=', `password: '!h7x9q2Zz'`],
    ...['token: h7.x9q2z4m1.a', 'password: "${X1-h7x9q2z4m1}"', 'password: h!x-app-2', 'password: app-tls-2!h7'],
    ...['password: h7%x9q2z4m1', 'password: h7#x9q2z4m1', 'password: h7$x9q2z4m1'],
  ], // prettier-ignore
  'application.properties': [
    ...['a.password=${MYSQL_PASSWORD:h7-x9q2z}', 'password=x8f14e45(ceea', 'password="`123QWERasdf"'],
  ], // prettier-ignore
  'Main.java': ['static final String DB_PASSWORD = "x8f14e45f!ceea";'],
};
const notAssigned = {
  'app.env': [
    ...['DB_PASSWORD=', 'DB_PASSWORD=changeme', 'DB_PASSWORD=<password>', 'DB_PASSWORD=${PASSWORD}', 'DB_PASSWORD=$PASS'],
    ...['DB_PASSWORD=xxxxxxxx', 'DB_PASSWORD=********', 'DB_PASSWORD=your-password-here', 'DB_PASSWORD=postgres'],
    ...['API_KEY=YOUR_API_KEY', 'TOKEN_EXPIRY=h7x9q2z4m1', 'API_TOKEN=3600', 'TOKEN=none', 'SECRET_FILE=/run/secrets/db'],
    ...['DB_PASSWORD=/run/secrets/db1', 'API_KEY=op://vault/item/field1', 'DB_PASSWORD={{ db_password_1 }}'],
    ...['csrf-token=h7x9q2z4m1', 'authenticity_token=h7x9q2z4m1', 'publicToken=h7x9q2z4m1'],
    ...['API_TOKEN=h7x9q2z4m1..[cut]', 'BYPASS=h7x9q2z4m1', 'DB_PASSWORD="a b c d 1 2"'],
  ], // prettier-ignore
  'deploy.yml': [
    ...['token: ${{ secrets.GITHUB_TOKEN }}', 'id-token: write', 'password: !vault |', 'secretName: app-tls-2'],
    ...['secret: my-app-tls-2', 'password: パスワード123456', 'tokenUrl: https://auth1.example.com/token'],
  ], // prettier-ignore
  'compose.yml': [
    ...['DB_PASSWORD: ${DB_PASSWORD_2:?Variable not set}', 'DB: pg://app:${DB_PASSWORD:?Variable not set}@db'],
    ...['API_TOKEN: "${TOKEN_V2:-}"', 'secret: projects/123456/secrets/db-1/versions/3'],
    ...['password: secret/data/app1#password', 'token: ((db_token_2))', 'token: <<p.token1>>'],
    ...['password: ENC[AES256_GCM,data:Tr7o1dHcXg==,iv:1aB2c3D4]', 'password: "{cipher}AQA6EDg2nJ6cLxT5JR9c"'],
    ...['secret: vault:v1:8SDd3WHDOjf7mq69', `password: AgB${'h7Xq2Lm9'.repeat(30)}`],
    ...['password: encrypted:BE9Y7LKANx77X1pv1HnE', 'password: $(db-password-2)', 'secret: ssm:/prod/db1'],
  ], // prettier-ignore
  'main.tf': [
    ...['password = random_password.db1.result', 'password = module.db1.password'],
    ...['secret_key = azurerm_key_vault_secret.s3key.value', 'api_key = base64encode(var.key1)'],
    ...['token = var.tokens_v2["prod1"]', 'password = "${var.db_password1}"', 'password = each.value.password1'],
  ], // prettier-ignore
  'application.properties': [
    ...['spring.datasource.password=${MYSQL_PASSWORD2}', 'password=ENC(G6N718UuyPE5bHyWKyuLQSm02auQPUtm)'],
    ...['token=#{systemProperties["token1"]}', 'password=%DB_PASSWORD_1%', 'password=__DB_PASSWORD_1__'],
    ...['password=@@DB_PASSWORD_1@@', 'password=`pass show db1`'],
  ], // prettier-ignore
  'parts.yml': [
    ...['password: "h7%{x9}q2z4"', 'password: "h7#{x9}q2z4"', 'password: "h7$(x9)q2z4"', 'password: "h7${x9}q2z4"'],
    ...['password: "x${B1:h7-x9q2z}"', 'password: "${B1:h7-x9q2z}y"', `DB_PASSWORD: "'$PASSWORD_1'"`],
    ...['password: h7x9q2', 'password: 12!34!56!78', 'password: hxqzmwkv!p', 'secretName: app-tls-22'],
  ], // prettier-ignore
  'azuredeploy.json': [
    ...['"secret": "@Microsoft.KeyVault(SecretUri=https://v1.vault.azure.net/s1)"'],
    ...[`"adminPassword": "[parameters('password1')]"`, '"password": "<%= db1.password %>"'],
    ...['"password": "%{db1.password}"', '"password": "%(db_password1)s"', '"secret": "mailto:h7x9q2@invented.net"'],
  ], // prettier-ignore
  'placeholders.env': [
    ...['API_KEY=1234567890abcdef', 'API_KEY=abcdef123456', 'API_KEY=a1b2c3d4e5f6', 'API_KEY=sk-1234567890abcdefh7'],
    ...['DB_PASSWORD=changethis', 'PROXY_PASSWORD=proxypass1', 'DB_PASSWORD=mysecretpassword'],
    ...['API_KEY=the-example-h7x9q2', 'API_KEY=h7x9abcdefghq2'],
  ], // prettier-ignore
  'en.json': [
    ...['"password": "Password"', '"forgotPassword": "Forgot your password?"', '"token": "Token123"'],
    ...['"auth-key": "workspace:*"'],
  ], // prettier-ignore
  'code.ts': [
    ...['const API_TOKEN = process.env.API_TOKEN1;', 'const password = "x8f14e45f!ceea";', 'if (PASSWORD === "a") {}'],
    ...['TOKEN = "T_STRING_123"', 'const DB_PASSWORD = "changeme";', 'API_KEY: config.apiKey1'],
  ], // prettier-ignore
};

for (const [what, table, count] of [
  ['are suspected', assigned, 1],
  ['are not, if the value is an expression, is encrypted, or is a placeholder', notAssigned, 0],
] as const)
  test(`F190 assignments of passwords and keys ${what}`, () => {
    for (const [path, lines] of Object.entries(table))
      for (const line of lines) assert.equal(assignmentsIn(line, path), count, `${path}: ${line}`);
  });
