import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { Assessment } from '../../../../src/core/run/state/newRun.ts';
import { needsUser } from '../../../../src/core/run/state/trouble.ts';
import { workflowIds, type WorkflowId } from '../../../../src/core/workflows/workflow.ts';
import { inventedShop } from '../../../service/blackbox/inventedShop.ts';
import { type Fixture, openWindow, type RunWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import type { VirtualClock } from '../virtualClock.ts';
import type { Scope } from '../tempFolder.ts';
import { accepted } from '../uploads.ts';

// A message may encode these invented passwords in every way.
const passwords = ['canary one/+"ü', 'canary-two&=%41'];
const disguises = passwords.flatMap((password) => [
  password,
  JSON.stringify(password).slice(1, -1),
  encodeURIComponent(password),
  Buffer.from(password).toString('base64'),
]);

function inputOf(workflow: WorkflowId): Partial<Assessment> {
  if (workflow === 'whitebox-assessment') return {};
  const credentials = [
    { id: 'alice', role: 'buyer' },
    { id: 'bob', role: 'seller' },
  ];
  const input = { target_urls: [`${inventedShop.origin}/`], authentication: { credentials } };
  return {
    workflow,
    input,
    targets: [{ folder: '/invented/shop', name: new URL(inventedShop.origin).host }],
  };
}

async function traces(fixture: Fixture, ...windows: readonly RunWindow[]): Promise<string> {
  const names = await readdir(fixture.root, { recursive: true, withFileTypes: true });
  const files = names.filter((each) => each.isFile());
  const texts = await Promise.all(
    files.map(({ parentPath, name }) => readFile(path.join(parentPath, name), 'utf8')),
  );
  const runs = windows.flatMap(({ store, ended }) => [...store.all(), ...ended]);
  return [...texts, ...windows.flatMap(({ lines }) => lines), JSON.stringify(runs)].join('\n');
}

async function assertNoPassword(fixture: Fixture, ...windows: readonly RunWindow[]): Promise<void> {
  const text = await traces(fixture, ...windows);
  assert.deepEqual(
    disguises.filter((each) => text.includes(each) || text.includes(JSON.stringify(each).slice(1, -1))),
    [],
  );
}

const open = (t: Scope, fixture: Fixture, clock?: VirtualClock): RunWindow =>
  openWindow(t, fixture, { passwords, ...(clock === undefined ? {} : { clock }) });

for (const workflow of workflowIds) {
  describe(`F133 a run of ${workflow}`, () => {
    const isBlackbox = workflow !== 'whitebox-assessment';

    test('with a lost dispatch is unknown, and dispatched again only when the user says so', async (t) => {
      const fixture = await setUpFixture(t);
      fixture.service.addFault({ match: { path: '/dispatch', nth: 1 }, after: { kind: 'reset' } });
      const window = open(t, fixture);
      const { id, state } = await window.start(inputOf(workflow));
      assert.deepEqual([state, fixture.sent('/dispatch'), accepted(fixture)], ['unknown', 1, 1]);
      const run = await fixture.passUntil(window.tracker.resend(id));
      assert.deepEqual([run.state, fixture.sent('/dispatch')], ['running', 2]);
      const bodies = fixture.service.requests.filter(({ path: at }) => at.endsWith('/dispatch'));
      for (const { body } of bodies)
        for (const password of isBlackbox ? passwords : [])
          assert.ok(JSON.stringify(body).includes(JSON.stringify(password)), 'sent in full');
      await assertNoPassword(fixture, window);
    });

    test('that is cancelled ends as cancelled', async (t) => {
      const fixture = await setUpFixture(t);
      const window = open(t, fixture);
      const { id } = await window.start(inputOf(workflow));
      await fixture.passUntil(window.tracker.cancel(id));
      assert.equal((await window.untilEnded(id)).state, 'cancelled');
      await assertNoPassword(fixture, window);
    });

    test('that gets a 401 waits for another token and continues to its end', async (t) => {
      const fixture = await setUpFixture(t);
      const window = open(t, fixture);
      const run = await window.start(inputOf(workflow));
      assert.ok(run.state === 'running');
      fixture.service.setTokens(['next-invented-token']);
      await window.until(run.id, needsUser);
      window.setToken('next-invented-token');
      await fixture.passUntil(window.tracker.tokenChanged());
      await fixture.service.finishRun(run.runId);
      assert.equal((await window.untilEnded(run.id)).state, 'succeeded');
    });
  });
}

describe('a blackbox run', () => {
  for (const [how, disguise] of [
    ['plain', (text: string) => text],
    ['in an address', encodeURIComponent],
    ['in Base64', (text: string) => Buffer.from(text).toString('base64')],
  ] as const) {
    test(`F130 F132 neither stores, logs nor reports passwords that the service repeats ${how}`, async (t) => {
      const fixture = await setUpFixture(t);
      const message = `No login with ${passwords.map(disguise).join(' and ')} at the shop.`;
      const body = JSON.stringify({ error: { message } });
      fixture.refuse('/dispatch', { status: 400, body });
      const window = open(t, fixture);
      const run = await window.start(inputOf('blackbox-crawl'));
      assert.ok(run.state === 'failed');
      assert.match(run.failure.detail ?? '', /No login with \[redacted\] and \[redacted\] at the shop/);
      await assertNoPassword(fixture, window);
    });

    test(`F150 with a run ID that contains a password ${how} is unknown, and the ID is not stored`, async (t) => {
      const fixture = await setUpFixture(t);
      const body = JSON.stringify({ workflow_run_id: `run-${disguise(passwords[0]!)}-1` });
      fixture.refuse('/dispatch', { status: 200, body });
      const window = open(t, fixture);
      const run = await window.start(inputOf('blackbox-crawl'));
      assert.equal(run.state, 'unknown');
      await assertNoPassword(fixture, window);
    });

    test(`F132 does not store passwords that its end reason contains ${how}`, async (t) => {
      const fixture = await setUpFixture(t);
      const window = open(t, fixture);
      const run = await window.start(inputOf('blackbox-assessment'));
      assert.ok(run.state === 'running');
      const detail = { message: passwords.map(disguise), login: disguise(passwords[0]!) };
      await fixture.service.finishRun(run.runId, { kind: 'aborted', code: 'invented', detail });
      const ended = await window.untilEnded(run.id);
      assert.ok(ended.state === 'aborted');
      assert.match(JSON.stringify(ended.exit.abort?.detail), /\[redacted\]/);
      await assertNoPassword(fixture, window);
    });
  }

  test('F150 keeps a run ID that contains a short password by chance', async (t) => {
    const fixture = await setUpFixture(t);
    const body = '{"workflow_run_id":"run-1234567-1"}';
    fixture.refuse('/dispatch', { status: 200, body });
    const window = openWindow(t, fixture, { passwords: ['1234567', '1234567'] });
    const run = await window.start(inputOf('blackbox-crawl'));
    assert.ok(run.state === 'running');
    assert.equal(run.runId, 'run-1234567-1');
  });

  test('F130 without a saved password is not sent', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const run = await window.start(inputOf('blackbox-crawl'));
    assert.ok(run.state === 'failed');
    assert.deepEqual([run.failure.kind, fixture.sent('/dispatch')], ['noPassword', 0]);
  });
});
