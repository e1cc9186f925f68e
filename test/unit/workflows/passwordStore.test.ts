import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { respelled } from '../core/respelled.ts';
import type { ApplicationInput } from '../../../src/core/workflows/blackboxInput.ts';
import { changesBetween, partsOf } from '../../../src/core/workflows/requestChanges.ts';
import { PasswordStore } from '../../../src/core/workflows/passwordStore.ts';

const account = {
  workflow: 'blackbox-crawl' as const,
  baseUrl: 'https://assess.example.com/v1',
  organizationId: 'acme',
  targetFile: '/invented/shop.blackbox.json',
};
const alice = { id: 'alice', role: 'buyer' };
const bob = { id: 'bob', role: 'seller' };
const input: ApplicationInput = {
  target_urls: ['https://a.example/', 'https://b.example/'],
  oos_urls: ['https://a.example/logout'],
  authentication: { credentials: [alice, bob], additional_instructions: 'Log in at /login.' },
  preference: { preferences: [{ kind: 'DONT', preference: 'Do not order.' }] },
  additional_instructions: 'Start at the catalogue.',
};
const request = { ...account, input };

/** Without a keyring, empty texts are not stored. */
function stores() {
  const secrets = new Map<string, string>();
  const index = new Map<string, unknown>();
  return {
    secrets,
    index,
    passwords: new PasswordStore(
      {
        get: (key) => Promise.resolve(secrets.get(key) || undefined),
        store: (key, value) => Promise.resolve(void secrets.set(key, value)),
        delete: (key) => Promise.resolve(void secrets.delete(key)),
      },
      {
        keys: () => [...index.keys()],
        get: (key) => index.get(key),
        update: (key, value) => {
          if (value === undefined) index.delete(key);
          else index.set(key, value);
          return Promise.resolve();
        },
      },
    ),
  };
}

test('a saved password is found for its request, in credential order, and only in secret storage', async () => {
  const { passwords, index } = stores();
  await passwords.save(request, bob, 'canary-bob');
  assert.deepEqual(await passwords.get(request), [undefined, 'canary-bob']);
  await passwords.save(request, alice, '');
  assert.deepEqual(await passwords.get(request), ['', 'canary-bob']);
  assert.deepEqual(await passwords.get(account), []);
  assert.doesNotMatch(JSON.stringify([...index]), /canary/);
});

const changed: readonly (readonly [part: string, input: ApplicationInput])[] = [
  ['targets', { ...input, target_urls: ['https://a.example/', 'https://evil.example/'] }],
  ['exclusions', { ...input, oos_urls: [] }],
  ['loginInstructions', { ...input, authentication: { credentials: [alice, bob] } }],
  ['crawlInstructions', { ...input, additional_instructions: 'Log in at https://evil.example/.' }],
  ['preferences', { ...input, preference: { preferences: [{ kind: 'DO', preference: 'Do not order.' }] } }],
];

for (const [part, after] of changed) {
  test(`F131 where ${part} changed since, a password is not found, but the difference is`, async () => {
    const { passwords } = stores();
    await passwords.save(request, alice, 'canary-1');
    const later = { ...account, input: after };
    assert.deepEqual(await passwords.get(later), [undefined, undefined]);
    const earlier = await passwords.findEarlier(later, alice);
    assert.ok(earlier?.from === 'sameFile');
    assert.equal(earlier.password, 'canary-1');
    const changes = changesBetween(earlier.parts, partsOf(after), true);
    assert.deepEqual(
      changes.map((change) => change.part),
      [part],
    );
    assert.equal(await passwords.findEarlier(later, bob), undefined);
  });
}

test('F131 changes that do not decide where passwords go require no new password', async () => {
  const { passwords } = stores();
  await passwords.save(request, alice, 'canary-1');
  const carol = { id: 'carol', role: 'admin' };
  const same: ApplicationInput = {
    ...input,
    target_urls: input.target_urls.toReversed(),
    authentication: { ...input.authentication, credentials: [alice, carol] },
    credit_limit: 50,
    resume: { workflow_id: 'blackbox-crawl', workflow_run_id: 'r-1' },
    pairs: [{ feature_name: 'Login', perspective: 'XSS' }],
  };
  assert.deepEqual(await passwords.get({ ...account, input: same }), ['canary-1', undefined]);
});

test('a password of another service or organization is neither found nor offered', async () => {
  const { passwords } = stores();
  await passwords.save(request, alice, 'canary-1');
  for (const other of [{ baseUrl: 'https://other.example/v1' }, { organizationId: 'other' }]) {
    const elsewhere = { ...request, ...other };
    assert.deepEqual(await passwords.get(elsewhere), [undefined, undefined]);
    assert.equal(await passwords.findEarlier(elsewhere, alice), undefined);
  }
});

const withInstructions = (additional_instructions: string): ApplicationInput => ({
  ...input,
  authentication: { credentials: [alice, bob], additional_instructions },
});

/**
 * A new request is compared with these login instructions. `3a` was approved for an assessment,
 * `4o` for another file.
 */
async function comparedWith(
  approved: string,
  location: { targetFile?: string | undefined },
): Promise<unknown> {
  mock.timers.enable({ apis: ['Date'] });
  try {
    const { passwords } = stores();
    for (const [instructions = '', kind] of approved.split(' ').filter(Boolean)) {
      const of = kind === 'a' ? { workflow: 'blackbox-assessment' as const } : kind === 'o' ? other : {};
      await passwords.save({ ...account, ...of, input: withInstructions(instructions) }, alice, 'canary-1');
      mock.timers.tick(1);
    }
    const now = { ...account, ...location, input: withInstructions('now') };
    const earlier = await passwords.findEarlier(now, alice);
    return earlier?.from === 'sameFile' ? earlier.parts.loginInstructions[0] : earlier?.from;
  } finally {
    mock.timers.reset();
  }
}
const other = { targetFile: '/invented/other.blackbox.json' };

test('F144 a request is compared with the latest of its workflow and file, or else of the file’s other workflow', async () => {
  const cases: readonly (readonly [string, string | undefined, { targetFile?: string | undefined }?])[] = [
    ['1 2 3a 4o', '2'],
    ['1 2 1', '1'],
    ['1 1o 2o', '1'],
    ['3a 4o', '3'],
    ['1', '1', { targetFile: respelled(account.targetFile) }],
    ['4o', 'otherFile'],
    ['1', 'otherFile', { targetFile: undefined }],
    ['', undefined],
  ];
  for (const [approved, expected, location = {}] of cases)
    assert.equal(await comparedWith(approved, location), expected, approved);
});

test('saved passwords can be listed and deleted', async () => {
  const { passwords, secrets, index } = stores();
  await passwords.save(request, alice, 'canary-1');
  const [kept, ...others] = await passwords.savedLogins();
  assert.deepEqual(
    [kept?.id, kept?.role, kept?.origin, others.length],
    ['alice', 'buyer', 'https://assess.example.com', 0],
  );
  await passwords.delete(kept!);
  assert.deepEqual([await passwords.savedLogins(), secrets.size, index.size], [[], 0, 0]);
});

for (const damaged of ['x', null, [], {}, { id: 'alice', role: 'buyer' }, { uses: [{}] }]) {
  test(`a damaged entry of saved passwords is not listed until it is made again: ${JSON.stringify(damaged)}`, async () => {
    const { passwords, index } = stores();
    await passwords.save(request, bob, 'canary-bob');
    await passwords.save(request, alice, 'canary-1');
    const [, key = ''] = [...index.keys()];
    index.set(key, damaged);
    const listed = await passwords.savedLogins();
    assert.deepEqual(
      listed.map(({ id }) => id),
      ['bob'],
    );
    await passwords.approve(request);
    assert.deepEqual((await passwords.savedLogins()).map(({ id }) => id).sort(), ['alice', 'bob']);
  });
}
