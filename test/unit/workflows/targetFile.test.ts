import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { applicationInputSchema, requestInput } from '../../../src/core/workflows/blackboxInput.ts';
import {
  readTargetFile,
  takePasswords,
  targetFileSchema,
  toInput,
} from '../../../src/core/workflows/targetFile.ts';

const url = 'https://staging.example.com/';
const whole = {
  $schema: 'https://example.com/schema.json',
  target_urls: [url, 'http://localhost:8080/a@b?c=d@e'],
  oos_urls: [`${url}logout`],
  language: 'japanese',
  notification: { webhook_endpoint_ids: ['hook-1'] },
  authentication: {
    credentials: [
      { id: 'alice@example.com', role: 'buyer' },
      { id: 'alice@example.com', role: 'seller' },
    ],
    additional_instructions: 'Log in at /login.',
  },
  preference: { preferences: [{ kind: 'DONT', preference: 'Do not place orders.' }] },
  crawl: { credit_limit: 5, additional_instructions: 'Start from the catalogue.' },
  assessment: { scan_credit_limit: 100_000, crawl_credit_limit: 5 },
};

/** The editor's JSON support checks by this schema. */
const contributed = new Ajv({ strict: false }).compile(
  z.toJSONSchema(targetFileSchema, { target: 'draft-7' }),
);

const withUrl = (text: unknown) => ({ target_urls: [text] });
const withLogins = (...credentials: unknown[]) => ({ target_urls: [url], authentication: { credentials } });
const login = { id: 'alice', role: 'buyer' };
const withWishes = (...preferences: unknown[]) => ({ target_urls: [url], preference: { preferences } });
const withCrawl = (crawl: unknown) => ({ target_urls: [url], crawl });
const withAssessment = (assessment: unknown) => ({ target_urls: [url], assessment });
const many = (count: number, make: (index: number) => unknown) =>
  Array.from({ length: count }, (_, at) => make(at));
const long = (length: number) => 'x'.repeat(length);
const wish = (preference: string) => ({ kind: 'DO', preference });

/** Each has its problem and the text at the problem. */
const broken: readonly (readonly [name: string, file: unknown, problem: string, at: string])[] = [
  ['no target', {}, 'missing target_urls', '{'],
  ['0 targets', { target_urls: [] }, 'atLeast 1 items', '[]'],
  ['101 targets', { target_urls: many(101, (at) => url + String(at)) }, 'atMost 100 items', '['],
  ['a target list that is not a list', { target_urls: url }, 'type array', `"${url}"`],
  ['a target that is not a string', withUrl(7), 'type string', '7'],
  ['a relative URL', withUrl('/login'), 'url', '"/login"'],
  ['an ftp URL', withUrl('ftp://example.com/'), 'url', '"ftp://example.com/"'],
  ['a URL without a host', withUrl('https:///'), 'url', '"https:///"'],
  ['a URL with a user', withUrl('https://alice@example.com/'), 'url', '"https://alice@example.com/"'],
  ['a URL with a password', withUrl('https://a:b@example.com/'), 'url', '"https://a:b@example.com/"'],
  ['a URL with an encoded slash', withUrl('https://example.com\\@evil.example'), 'url', '"https://example.com\\\\@evil.example"'],
  ...['/ x', '/商品', '/{id}', '/?a[0]=1', '/a|b', '/100%', '/#a#b', ':x/'].map(
    (rest) =>
      [
        `a URL that ends with ${rest}`,
        withUrl(`https://example.com${rest}`),
        'url',
        '"https://example',
      ] as const,
  ),
  ['a URL with a host beyond ASCII', withUrl('https://例え.example/'), 'url', '"https://例え.example/"'],
  ['a URL of 5,001 characters', withUrl(url + long(5001 - url.length)), 'atMost 5000 characters', '"https'],
  ['101 exclusions', { target_urls: [url], oos_urls: many(101, () => url) }, 'atMost 100 items', '['],
  ['a relative exclusion', { target_urls: [url], oos_urls: ['logout'] }, 'url', '"logout"'],
  ['another language', { target_urls: [url], language: 'klingon' }, 'value english, japanese', '"klingon"'],
  ['no endpoints', { target_urls: [url], notification: {} }, 'missing webhook_endpoint_ids', '{'],
  ['0 endpoints', { target_urls: [url], notification: { webhook_endpoint_ids: [] } }, 'atLeast 1 items', '[]'],
  ['101 endpoints', { target_urls: [url], notification: { webhook_endpoint_ids: many(101, String) } }, 'atMost 100 items', '['],
  ['0 logins', withLogins(), 'atLeast 1 items', '[]'],
  ['101 logins', withLogins(...many(101, (at) => ({ ...login, id: String(at + 1) }))), 'atMost 100 items', '['],
  ['a login twice', withLogins(login, login), 'sameLogin', '['],
  ['an empty ID', withLogins({ ...login, id: '' }), 'atLeast 1 characters', '""'],
  ['an ID of 257 characters', withLogins({ ...login, id: long(257) }), 'atMost 256 characters', '"xxx'],
  ['an empty role', withLogins({ ...login, role: '' }), 'atLeast 1 characters', '""'],
  ['a role of 257 characters', withLogins({ ...login, role: long(257) }), 'atMost 256 characters', '"xxx'],
  ['no role', withLogins({ id: 'alice' }), 'missing role', '{'],
  ['F130 a password of digits', withLogins({ ...login, password: 4711 }), 'password password', '"password"'],
  ['a list for a password', withLogins({ ...login, password: [] }), 'unknown password', '"password"'],
  ['F130 a password', withLogins({ ...login, password: 'canary-1' }), 'password password', '"password"'],
  ['empty login instructions', { target_urls: [url], authentication: { additional_instructions: '' } }, 'atLeast 1 characters', '""'],
  [
    'login instructions of 5,001 characters',
    { target_urls: [url], authentication: { additional_instructions: long(5001) } },
    'atMost 5000 characters',
    '"xxx',
  ],
  ['an unknown member of authentication', { target_urls: [url], authentication: { mfa: 1 } }, 'unknown mfa', '"mfa"'],
  ['0 preferences', withWishes(), 'atLeast 1 items', '[]'],
  ['101 preferences', withWishes(...many(101, () => wish('x'))), 'atMost 100 items', '['],
  ['an empty preference', withWishes(wish('')), 'atLeast 1 characters', '""'],
  ['a preference of 5,001 characters', withWishes(wish(long(5001))), 'atMost 5000 characters', '"xxx'],
  ['another kind of preference', withWishes({ kind: 'MAY', preference: 'x' }), 'value DO, DONT', '"MAY"'],
  ['no preferences', { target_urls: [url], preference: {} }, 'missing preferences', '{'],
  ['a crawl limit of 4', withCrawl({ credit_limit: 4 }), 'atLeast 5 credits', '4'],
  ['a crawl limit of 100,001', withCrawl({ credit_limit: 100_001 }), 'atMost 100000 credits', '100001'],
  ['half a credit', withCrawl({ credit_limit: 5.5 }), 'type int', '5.5'],
  ['a limit in quotes', withCrawl({ credit_limit: '20' }), 'type number', '"20"'],
  ['empty crawl instructions', withCrawl({ additional_instructions: '' }), 'atLeast 1 characters', '""'],
  ['crawl instructions of 5,001 characters', withCrawl({ additional_instructions: long(5001) }), 'atMost 5000 characters', '"xxx'],
  ['a scan limit of 9', withAssessment({ scan_credit_limit: 9 }), 'atLeast 10 credits', '9'],
  ['a scan limit of 100,001', withAssessment({ scan_credit_limit: 100_001 }), 'atMost 100000 credits', '100001'],
  ['an assessment’s crawl limit of 4', withAssessment({ crawl_credit_limit: 4 }), 'atLeast 5 credits', '4'],
  ['an assessment’s crawl limit of 100,001', withAssessment({ crawl_credit_limit: 100_001 }), 'atMost 100000 credits', '100001'],
  ['an unknown member', { target_urls: [url], pairs: [] }, 'unknown pairs', '"pairs"'],
  ['a list', [], 'type object', '[]'],
]; // prettier-ignore

const bare = (text: string) => {
  const read = readTargetFile(text);
  return 'problems' in read ? read.problems : [];
};

for (const [name, file, expected, at] of broken) {
  test(`${name.startsWith('F') ? name : `F117 ${name}`} in a target file is a problem, also in the JSON support`, () => {
    const text = JSON.stringify(file, undefined, 2);
    const problems = bare(text);
    assert.deepEqual(
      problems.map(({ kind, subject, bound, counted }) =>
        [kind, subject, bound, counted].filter((each) => each !== undefined).join(' '),
      ),
      [expected],
    );
    const [{ offset, length } = { offset: -1, length: 0 }] = problems;
    assert.ok(text.slice(offset, offset + length).startsWith(at), text.slice(offset, offset + length));
    assert.equal(contributed(file), false);
  });
}

test('F117 a target file within all bounds is accepted, by us and by the JSON support', () => {
  assert.deepEqual(readTargetFile(JSON.stringify(whole)), { file: whole });
  assert.equal(contributed(whole), true, JSON.stringify(contributed.errors));
  assert.deepEqual(readTargetFile(`{"target_urls":["${url}"]}`), { file: { target_urls: [url] } });
});

for (const [name, text] of [
  ['an empty file', ''],
  ['a comment', `// x\n{"target_urls":["${url}"]}`],
  ['a trailing comma', `{"target_urls":["${url}",]}`],
  ['text after the end', `{"target_urls":["${url}"]} {}`],
] as const) {
  test(`F117 a target file with ${name} is invalid JSON`, () => {
    assert.equal(bare(text)[0]?.kind, 'notJson');
  });
}

test('F117 duplicate members are a problem at the second', () => {
  const text = `{"target_urls": ["${url}"], "target_urls": ["https://evil.example/"]}`;
  assert.deepEqual(bare(text), [
    { kind: 'repeated', subject: 'target_urls', offset: text.lastIndexOf('"target_urls"'), length: 13 },
  ]);
});

test('F117 a member __proto__ gives no targets', () => {
  const kinds = bare(`{"__proto__": {"target_urls": ["${url}"]}}`).map(({ kind }) => kind);
  assert.ok(kinds.includes('missing'));
});

test('any text is parsed, or has problems within its range', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      for (const { offset, length } of bare(text))
        assert.ok(offset >= 0 && offset + length <= text.length + 1);
    }),
  );
});

const isUri = addFormats.default(new Ajv()).compile({ type: 'string', format: 'uri' });
const urlText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'/ ? # @ : [ ] %41 . a 商 { | \\ %'.split(' '), ' '),
      fc.webPath(),
      fc.webQueryParameters(),
      fc.string(),
    ),
  )
  .map((parts) => parts.join(''));

test('F117 a URL of a target file is one that the API accepts', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        urlText,
        fc.webUrl().chain((start) => urlText.map((rest) => start + rest)),
      ),
      (text) => {
        for (const each of [text, `https://${text}`, `${url}${text}`])
          if (bare(JSON.stringify(withUrl(each))).length === 0) assert.ok(isUri(each), each);
      },
    ),
  );
  for (const part of [
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.ipV6().map((ip) => `https://[${ip}]:8443/`),
  ])
    fc.assert(
      fc.property(part, (each) => !URL.canParse(each) || bare(JSON.stringify(withUrl(each))).length === 0),
    );
});

test('a target file gives the input of each workflow, within the API’s bounds', () => {
  const { file } = readTargetFile(JSON.stringify(whole)) as { file: z.infer<typeof targetFileSchema> };
  const { target_urls, oos_urls, authentication, preference, crawl, assessment } = whole;
  const shared = { target_urls, oos_urls, authentication, preference };
  assert.deepEqual(toInput(file, 'blackbox-crawl'), { ...shared, ...crawl });
  assert.deepEqual(toInput(file, 'blackbox-assessment'), { ...shared, ...assessment });
  assert.ok(applicationInputSchema.safeParse(toInput(file, 'blackbox-crawl')).success);
  const credentials = authentication.credentials.map((each) => ({ ...each, password: '' }));
  const request = { ...shared, authentication: { ...authentication, credentials }, language: 'japanese' };
  assert.ok(z.strictObject(requestInput).safeParse(request).success);
});

test('F130 every password is removed from a target file, and nothing else', () => {
  const text = `{
  "target_urls": ["${url}"],
  "authentication": {
    "credentials": [
      { "id": "alice", "role": "buyer", "password": "canary-1" },
      { "id": "bob", "role": "buyer" },
      { "id": "dave", "role": "buyer", "password": 0.4711e+4 },
      { "password": "", "id": "carol", "role": "seller" }
    ]
  }
}
`;
  const taken = takePasswords(text);
  assert.deepEqual(
    [...taken.passwords],
    [
      [0, 'canary-1'],
      [2, '0.4711e+4'],
      [3, ''],
    ],
  );
  assert.equal(taken.text, text.replace(/, "password": ["0][^ ]+/g, '').replace('"password": "", ', ''));
});

test('no password is taken out of a text that is not JSON', () => {
  const text = `{ "authentication": { "credentials": [{ "password": 0123, "id": "a" }] } }`;
  assert.deepEqual(takePasswords(text), { text, passwords: new Map() });
});
