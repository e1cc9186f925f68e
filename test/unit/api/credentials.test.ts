import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  readTokenKey,
  redact,
  runTokenCommand,
  storedToken,
  tokenKey,
  type TokenSource,
  toToken,
} from '../../../src/core/api/credentials.ts';
import { AssessmentError } from '../../../src/core/errors.ts';
import type { SecretStore } from '../../../src/core/ports.ts';

function secretStore(entries: Record<string, string> = {}): SecretStore & { entries: Map<string, string> } {
  const kept = new Map(Object.entries(entries));
  return {
    entries: kept,
    get: (key) => Promise.resolve(kept.get(key)),
    store: (key, value) => Promise.resolve(void kept.set(key, value)),
    delete: (key) => Promise.resolve(void kept.delete(key)),
  };
}

const node = (script: string): string[] => [process.execPath, '-e', script];

describe('a token', () => {
  test('F83 is kept per origin and organization', () => {
    const keys = [
      tokenKey('https://a.example', 'one'),
      tokenKey('https://a.example', 'two'),
      tokenKey('https://b.example', 'one'),
      tokenKey('https://a.example:8443', 'one'),
      tokenKey('https://a.example', '8443:one'),
      tokenKey('https://a.example', '8443%3Aone'),
      tokenKey('https://a.example', ':8443:one'),
    ];
    assert.equal(new Set(keys).size, keys.length);
    assert.equal(keys[0], 'token:https://a.example:one', 'as it always was');
  });

  test('is trimmed, and refused if it would be invalid in its header', () => {
    assert.equal(toToken(' a:b.c-d\r\n'), 'a:b.c-d');
    for (const text of ['', '  ', 'a b', 'a\r\nX-Evil: 1', 'a\0b', 'tokén', '"a"', '{"a":1}', 'null']) {
      assert.throws(() => toToken(text), { kind: 'badSetting' }, JSON.stringify(text));
    }
  });

  test('that changed meanwhile is read from the store instead of running the command', async () => {
    const secrets = secretStore({ key: 'changed' });
    const source = storedToken(secrets, 'key', () => assert.fail('not needed'));
    assert.equal(await source.get(), 'changed');
    assert.equal(await source.refresh('rejected'), 'changed');
  });

  test('is created by the command if it is missing or was rejected, and stored', async () => {
    const secrets = secretStore();
    let made = 0;
    const source = storedToken(secrets, 'key', () => Promise.resolve(`made-${String((made += 1))}`));
    assert.equal(await source.get(), 'made-1');
    assert.equal(await source.get(), 'made-1');
    assert.equal(await source.refresh('made-1'), 'made-2');
    assert.equal(secrets.entries.get('key'), 'made-2');
  });

  test('is neither stored nor sent again if the command prints the same one, which is the command’s failure', async () => {
    const secrets = secretStore({ key: 'same' });
    secrets.store = () => assert.fail('an unchanged token would be announced to every window');
    const source = storedToken(secrets, 'key', () => Promise.resolve('same'));
    await assert.rejects(source.refresh('same'), { kind: 'tokenCommand' });
  });

  test('F194 comes from one run of the command for all that need it at once, which no caller’s cancel ends', async () => {
    const secrets = secretStore({ key: 'expired' });
    const renewals = new Map();
    const { promise, resolve } = Promise.withResolvers<string>();
    let runs = 0;
    // A source for each call, as the clients of an account have it.
    const open = (): TokenSource => storedToken(secrets, 'key', () => ((runs += 1), promise), renewals);
    const stop = new AbortController();
    const cancelled = open().refresh('expired', stop.signal);
    const refused = [open().refresh('expired'), open().refresh('expired')];
    while (runs === 0) await setImmediate();
    const later = open().get();
    stop.abort(new DOMException('Cancelled', 'AbortError'));
    await assert.rejects(cancelled, { name: 'AbortError' });
    resolve('fresh');
    assert.deepEqual(await Promise.all([...refused, later]), ['fresh', 'fresh', 'fresh']);
    assert.equal(await open().refresh('expired'), 'fresh');
    assert.equal(runs, 1);
  });

  test('F194 that cannot be renewed is a failure of all that wait, and the next one runs the command again', async () => {
    const renewals = new Map();
    const open = (run: () => Promise<string>): TokenSource =>
      storedToken(secretStore(), 'key', run, renewals);
    const fail = (): Promise<never> => Promise.reject(new AssessmentError('tokenCommand'));
    const failed = [open(fail).get(), open(() => assert.fail('one renewal at a time')).get()];
    for (const each of failed) await assert.rejects(each, { kind: 'tokenCommand' });
    assert.equal(await open(() => Promise.resolve('made')).get(), 'made');
  });

  test('F169 comes from the command while the store fails; without a command that failure is named', async () => {
    const fail = (): Promise<never> => Promise.reject(new AssessmentError('secretStorage'));
    const secrets: SecretStore = { get: fail, store: fail, delete: fail };
    let made = 0;
    const source = storedToken(secrets, 'key', () => Promise.resolve(`made-${String((made += 1))}`));
    assert.deepEqual([await source.get(), await source.refresh('made-1')], ['made-1', 'made-2']);
    const without = storedToken(secrets, 'key');
    await assert.rejects(without.get(), { kind: 'secretStorage' });
    await assert.rejects(without.refresh('rejected'), { kind: 'secretStorage' });
  });

  test('comes only from the store if there is no command', async () => {
    const source = storedToken(secretStore({ key: 'only' }), 'key');
    assert.equal(await source.refresh('only'), undefined);
    assert.equal(await storedToken(secretStore(), 'key').get(), undefined);
  });
});

describe('the token command', () => {
  test('returns what it prints, trimmed, and passes its arguments without a shell', async () => {
    const print = [...node('console.log(process.argv[1])'), '$(echo;oh)'];
    assert.equal(await runTokenCommand(print), '$(echo;oh)');
  });

  test('F90 fails without its output in the error', async () => {
    const failing = node('console.log("canary-out"); console.error("canary-err"); process.exit(3)');
    await assert.rejects(runTokenCommand(failing), (error: Error & { kind?: string; data?: object }) => {
      assert.equal(error.kind, 'tokenCommand');
      assert.doesNotMatch(
        `${error.stack ?? ''}${JSON.stringify(error.data)}${String(error.cause)}`,
        /canary/,
      );
      return true;
    });
  });

  const printed = [
    ['', 'nothing'],
    ['"canary"', 'quotes'],
    ["'canary'", 'quotes'],
    ['{"access_token":"canary"}', 'json'],
    ['["canary"]', 'json'],
    ['null', 'null'],
    ['Bearer canary', 'words'],
    ['canary\nupdate available', 'words'],
    ['canaryé', 'characters'],
  ] as const;
  for (const [text, detail] of printed)
    test(`F198 that prints ${JSON.stringify(text)} is refused, which says what it is without showing it`, async () => {
      const printing = [...node('process.stdout.write(process.argv[1])'), text];
      const error: unknown = await runTokenCommand(printing).catch((failure: unknown) => failure);
      assert.ok(error instanceof AssessmentError);
      assert.deepEqual([error.kind, error.data.detail], ['tokenCommand', detail]);
      assert.doesNotMatch(inspect(error), /canary/);
    });

  test('fails with a typed error if it cannot run or prints too much', async () => {
    await assert.rejects(runTokenCommand([]), { kind: 'tokenCommand' });
    await assert.rejects(runTokenCommand(['no-such-invented-program']), { kind: 'tokenCommand' });
    // Refused by the operating system at once, like a batch file on Windows; the argument is not in
    // the error.
    await assert.rejects(runTokenCommand(['invented', 'canary\0']), (error: Error & { kind?: string }) => {
      assert.equal(error.kind, 'tokenCommand');
      return !error.message.includes('canary');
    });
    const flood = node('process.stdout.write("x".repeat(100000))');
    await assert.rejects(runTokenCommand(flood), { kind: 'tokenCommand' });
  });
});

describe('redaction', () => {
  test('removes tokens, bearers and queries of URLs, and keeps the rest', () => {
    const text =
      'tok-1 and Bearer abc.def, see https://a.example/x?sig=1&b=2 or http://b.example/#c "https://c.example/y"';
    assert.equal(
      redact(text, ['tok-1', '']),
      '[redacted] and Bearer [redacted], see https://a.example/x?[redacted] or http://b.example/?[redacted] "https://c.example/y"',
    );
  });

  test('F132 removes a password in every form that an answer may contain', () => {
    const password = "a'b/c d!é~1";
    const forms = [
      password, JSON.stringify(password), encodeURIComponent(password), encodeURIComponent(password).toLowerCase(),
      new URLSearchParams({ password }).toString(), Buffer.from(password).toString('base64'),
      Buffer.from(`bob:${password}`).toString('base64'), Buffer.from(`alice:${password}`).toString('base64url'),
    ]; // prettier-ignore
    for (const form of forms) {
      const left = redact(`before ${form} after`, [password]);
      assert.match(left, /^before .*\[redacted\].* after$/);
      assert.doesNotMatch(left, /b\/c|c d|c\+d|c%20d|b%2fc/i, form);
    }
  });

  test('F132 removes a whole password that begins with another one, and never makes text grow', () => {
    assert.equal(redact('Passw0rd!2', ['Passw0rd', 'Passw0rd!2']), '[redacted]');
    assert.equal(redact('x eeee', ['e', 'd', 'r', 'a', 'c', 't']), `x ${'[redacted]'.repeat(4)}`);
    assert.equal(redact('a \uD800 b', ['\uD800']), 'a [redacted] b');
  });

  test('F90 removes the query of a URL with escaped slashes, however often escaped', () => {
    const once = JSON.stringify({ upload: 'https://a.example/k?sig=canary' }).replaceAll('/', '\\/');
    for (const text of [once, JSON.stringify(once)])
      assert.doesNotMatch(redact(text, []), /canary/, redact(text, []));
  });
});

test('a key names the origin and organization of its token', () => {
  for (const origin of ['https://a.test', 'https://a.test:8443', 'http://[::1]:80', 'http://127.0.0.1:3'])
    for (const organizationId of ['invented', '7', 'a:b', ':', '会社:%'])
      assert.deepEqual(readTokenKey(tokenKey(origin, organizationId)), { origin, organizationId });
  assert.equal(readTokenKey('something else'), undefined);
});
