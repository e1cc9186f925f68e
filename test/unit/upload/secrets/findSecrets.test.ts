import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finders } from '../../../../src/core/upload/secrets/findSecrets.ts';
import { riskyName, riskyNames } from '../../../../src/core/upload/secrets/riskyNames.ts';
import { findTokens, maskMatch } from '../../../../src/core/upload/secrets/tokenRules.ts';
import { cpuMs } from '../../core/cpuTime.ts';

const findAssignments = (text: string, path: string) =>
  finders.flatMap((find) => find(text, path)).filter(({ rule }) => rule === 'assignment');

test('F30 names of credentials are risky, and similar names are not', () => {
  const risky = {
    '.env*': '.env app/.env .env.local .env.production .ENV .envrc .env_prod .env.test.local',
    '*.env': 'prod.env docker/db.env',
    '*.pem': 'key.pem a/b/Server.PEM',
    '*.p12': 'x.p12',
    '*.pfx': 'x.pfx',
    '*.p8': 'AuthKey.p8',
    '*.ppk': 'deploy.ppk',
    '*.jks': 'app/release.jks',
    '*.keystore': 'debug.keystore',
    '*.kdbx': 'team.kdbx old.kdb',
    'id_*': 'id_rsa deploy/id_ed25519 id_work id_rsa.bak id_ecdsa_sk',
    '.netrc': '.netrc home/_netrc',
    '.pgpass': '.pgpass pgpass.conf',
    '.git-credentials': '.git-credentials',
    '.htpasswd': 'www/.htpasswd',
    '.pypirc': '.pypirc',
    '.s3cfg': '.s3cfg',
    '.vault-token': '.vault-token',
    'master.key': 'config/master.key',
    kubeconfig: 'kubeconfig prod.kubeconfig',
    '*.tfstate': 'terraform.tfstate terraform.tfstate.backup',
    '.kube/': '.kube/config home/.kube/config',
    '.aws/': '.aws/credentials home/.aws/config',
    '.ssh/': '.ssh/config .ssh/deploy',
    '.gnupg/': '.gnupg/secring.gpg',
    '.docker/config.json': '.docker/config.json .dockercfg .dockerconfigjson',
  };
  assert.deepEqual(Object.keys(risky).sort(), riskyNames.map(([pattern]) => pattern).sort());
  for (const [pattern, paths] of Object.entries(risky))
    for (const path of paths.split(' ')) assert.equal(riskyName(path), pattern, path);
  const others = `.env.example .env.sample .env.template .env.local.example .env.example.local example.env
    env.ts .environment .envoy.yaml src/env environment.ts config.env.ts
    id_rsa.pub id_ed25519.pub id_map.json id_generator.py my_id_card .ssh/known_hosts .ssh/id_rsa.pub
    .npmrc aws/client.ts pem.ts x.pem.ts netrc.go src/tfstate.go docker/config.json .aws xp12 xnetrc .gitXcredentials x.master.key`;
  for (const path of others.split(/\s+/)) assert.equal(riskyName(path), undefined, path);
});

test('the part of an assignment’s name before a dot, a possible secret, is not shown', () => {
  const [found] = findAssignments('S3cr3tP4ssw0rd.auth_token=Zq8vX2mK9pLw', 'app.env');
  assert.ok(found);
  assert.equal(maskMatch(found), 'auth_token=…');
});

test('F156 passwords in URLs of every scheme are suspected, also short ones made of words and digits', () => {
  const logins = ['app:secret42', 'admin:tokenKey45', 'dev:myPassword2031', ':h7-x9$q', 'u:81537', 'app:p%40ss%3A9', '0a7f3c9e51:x-oauth-basic'];
  const schemes = 'http https ftp ftps git+https postgres postgresql mysql mysqlx jdbc:mysql mongodb mongodb+srv redis rediss amqp amqps sftp ldap smtp postgresql+psycopg2 mssql+pyodbc redis+sentinel neo4j+s snowflake trino x'.split(' ');
  for (const scheme of schemes)
    for (const login of logins)
      for (const [before, after] of [['', ''], ['"', '"'], ['URL=', '\n'], ['[x](', ')'], ['この', 'は']] as const) {
        const text = `${before}${scheme}://${login}@db.invented.net:3306/x${after}`;
        assert.equal(findTokens(text).filter(({ rule }) => rule === 'connection-url').length, 1, text);
      }
}); // prettier-ignore

test('F30 a login is suspected in a command that goes on over lines, and in no other', () => {
  const login = `--user "app":'h7-x9q2'`;
  for (const [text, count] of [
    [`# curl -X POST \\\n#   -d 'a' \\\n#   ${login} \\`, 1],
    [`curl -u :h7-x9q2 https://invented.net`, 1],
    [`curl https://invented.net\nrun ${login}`, 0],
    [`docker run -u 1000:builders2 app`, 0],
  ] as const)
    assert.equal(findTokens(text).length, count, text);
});

test('sample logins in connection URLs and commands, and keys of the AWS documentation are not suspected', () => {
  for (const text of [
    'redis://user:password@cache',
    'https://user:pass@example.com',
    'postgres://app:${PASSWORD}@db',
    'mysql://app:$DB_LOGIN@db',
    'mongodb://travis42:travis42@db',
    'amqp://guest:guest@localhost',
    'redis://:${REDIS_PASSWORD}@cache',
    'amqp://%s:%s@host',
    ...[
      'user:password',
      '<name>:<its-key-1>',
      '"$USER:$PASS"',
      '"${a1}:${b2}"',
      'app:[PASSWORD]',
      'test42:test42',
    ].map((login) => `curl -u ${login} https://invented.net`),
    ...['Bearer $TOKEN', 'Token ********', 'YOUR_API_KEY', '<key-1>'].map(
      (value) => `curl -H "Authorization: ${value}" https://invented.net`,
    ),
    'http://proxyuser:proxypass@proxy.invented.net:8080',
    'curl -u user:ATATT1234567890abcdefghijklmnop https://invented.net',
    'docker://alpine:3.18@sha256:1234',
    'BUNDLE_MIRROR__ALL=https://gems2.invented.net',
    `AKIAIOSFODNN7EXAMPLE`,
    ...['...', `${'h7Xq2Lm9'.repeat(8)}\n...\n${'h7Xq2Lm9'.repeat(8)}`].map(
      (body) => `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----`,
    ),
  ])
    assert.deepEqual(findTokens(text), [], text);
});

test('hostile text is scanned in bounded time', { timeout: 200_000 }, () => {
  const fill = (text: string): string => text.repeat(Math.ceil((256 << 10) / text.length));
  const repeated = [
    'a', ' ', 'http://a:', 'mongodb://', 'redis://:aaaa', '//a:_auth', 'xoxb-a-', 'password = "', 'SG.a.', 'ghs_1_',
    'glpat-',
  ]; // prettier-ignore
  repeated.push(
    '-----BEGIN PRIVATE KEY-----',
    `${'a'.repeat(64)}PASSWORD="`,
    'sk-ant-api03-',
    `${'a'.repeat(60)}.atlasv1.`,
  );
  repeated.push('xoxb-1234567890-', 'authorization: bearer ', 'hvs.', '%2D%2E', 'SK'.repeat(17), `SG.a.${'w'.repeat(300)}`); // prettier-ignore
  for (const text of [
    ...repeated.map(fill),
    `secretaccesskey${fill(' ')}`,
    fill(`ops_ey${'A'.repeat(1270)}`),
  ]) {
    const start = cpuMs();
    findTokens(text);
    findAssignments(text, 'a.json');
    findAssignments(text, 'a.ts');
    assert.ok(cpuMs() - start < 3000, text.slice(0, 30));
  }
});
