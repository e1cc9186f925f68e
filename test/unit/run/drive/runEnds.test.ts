import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemCode } from '../../../../src/core/errors.ts';
import { keptArtifact } from '../../../../src/core/run/state/run.ts';
import { openWindow, setUpFixture, setUpWindow } from '../runWindow.ts';
import { asJournaled } from '../sampleRuns.ts';
import { trackRemoteRun, trackRun, setUpRun } from '../seededRuns.ts';

describe('a run', () => {
  test('is followed from folder to findings, and its source is deleted from the service', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const started = await window.start();
    assert.ok(started.state === 'running');
    await fixture.service.finishRun(started.runId);
    const run = await window.until(started.id, (each) => each.targets[0]?.upload?.state === 'deleted');
    assert.ok(run.state === 'succeeded');
    assert.deepEqual(
      run.artifacts.map(({ name, file }) => [name, file]),
      [
        ['findings', 'findings.json'],
        ['report', 'report.md'],
      ],
    );
    const findings = await readFile(join(window.store.folderOf(run.id), 'findings.json'), 'utf8');
    assert.match(findings, /app\.js/);
    assert.deepEqual(
      window.ended.map(({ id, state }) => [id, state]),
      [[run.id, 'succeeded']],
    );
    assert.equal(fixture.service.files()[0]?.state, 'deleted');
    await assert.rejects(readFile(join(window.store.folderOf(run.id), 'archive-0.tar.gz')), {
      code: 'ENOENT',
    });
  });

  test('F106 finds report and findings by their references, whatever their name, and keeps other artifacts', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    const contents = { 'doc-7.md': '# Seven', 'doc-9': '[]', findings: 'of another kind', 'notes/../x': 'n' };
    await fixture.service.finishRun(runId, { kind: 'success', contents });
    const refer = (name: string): object => ({ artifact_name: name });
    const successOutput = {
      summary: refer('doc-9'),
      report: refer('doc-7.md'),
      findings: refer('doc-9'),
      extra: refer('notes/../x'),
    };
    const description = {
      status: 'EXITED',
      output: { kind: 'SUCCESS', successOutput },
      artifacts: Object.keys(contents).map((name) => ({ name })),
    };
    fixture.refuse('/describe', { status: 200, body: JSON.stringify(description) });
    const run = await window.untilEnded(id);
    assert.ok(run.state === 'succeeded');
    const read = async (name: string | undefined): Promise<string> =>
      readFile(join(window.store.folderOf(id), name ?? ''), 'utf8');
    const texts = await Promise.all(
      ['report', 'findings'].map((role) => read(keptArtifact(run, role)?.file)),
    );
    assert.deepEqual(texts, ['# Seven', '[]']);
    assert.deepEqual([await read('report.md'), await read('findings.json')], texts);
    const others = run.artifacts.filter(({ name }) => !name.startsWith('doc-'));
    assert.deepEqual(await Promise.all(others.map(({ file }) => read(file))), ['of another kind', 'n']);
  });

  test('keeps its source on the service if the user wants that', async (t) => {
    const { fixture, window } = await setUpWindow(t, { deleteSource: false });
    const { targets } = await window.assessment();
    const zipped = targets.map((target) => ({ ...target, archiveType: 'zip' as const }));
    const started = await window.start({ targets: zipped, language: 'japanese' });
    assert.ok(started.state === 'running');
    await fixture.service.finishRun(started.runId);
    await window.untilEnded(started.id);
    assert.equal(fixture.service.files()[0]?.state, 'confirmed');
    const deleted = window.tracker.deleteUploads(started.id);
    assert.equal(await fixture.passUntil(deleted), undefined);
    assert.equal(fixture.service.files()[0]?.state, 'deleted');
  });

  test('F58 shows an unknown status, exit kind or abort code literally', async (t) => {
    const { fixture, window, id } = await setUpRun(t);
    const say = (description: object): (() => void) =>
      fixture.service.addFault({
        match: { path: '/describe' },
        after: { kind: 'reply', status: 200, body: JSON.stringify(description) },
      });
    const remove = say({ status: 'HIBERNATING', output: 7, artifacts: 'none' });
    const odd = await window.until(id, (run) => run.state === 'running' && run.status !== undefined);
    assert.equal('status' in odd && odd.status, 'HIBERNATING');
    remove();
    const detail = { deep: [1, { er: null }] };
    say({ status: 'EXITED', output: { kind: 'EVAPORATED', abortedReason: { code: 'too_hot', detail } } });
    const run = await window.untilEnded(id);
    assert.ok(run.state === 'aborted');
    const abort = { code: 'too_hot', detail };
    assert.deepEqual(asJournaled(run.exit), { kind: 'EVAPORATED', abort, artifacts: [] });
  });

  test('F127 ends even if the reason of the service is nested too deeply to be stored', async (t) => {
    const { fixture, window, id } = await setUpRun(t);
    const detail = '['.repeat(50_000) + ']'.repeat(50_000);
    const body = `{"status":"EXITED","output":{"kind":"ABORTED","abortedReason":{"code":"odd","detail":${detail}}}}`;
    fixture.service.addFault({ match: { path: '/describe' }, after: { kind: 'reply', status: 200, body } });
    const run = await window.untilEnded(id);
    assert.ok(run.state === 'aborted');
    assert.deepEqual(run.exit.abort, { code: 'odd', detail: '…' });
  });

  test('F127 stores and logs the message of the service on one line, with control characters visible', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const odd = '\u001b[2K\u202eA\r\n[info] B\u0000';
    const shown = '\\u{001B}[2K\\u{202E}A [info] B\\u{0000}';
    const say = (path: string, said: object, nth = 1): void => {
      fixture.refuse({ path, nth }, { status: 200, body: JSON.stringify(said) });
    };
    const runId = `id${odd}`;
    say('/dispatch', { workflow_run_id: runId });
    say('/describe', { status: odd });
    const output = { kind: odd, abortedReason: { code: odd, detail: { text: odd } } };
    say('/describe', { status: 'EXITED', output }, 2);
    const { id } = await window.start();
    const going = await window.until(id, (run) => run.state === 'running' && run.status !== undefined);
    assert.ok(going.state === 'running');
    assert.deepEqual([going.status, going.runId], [shown, runId], 'the ID is sent back as it came');
    const run = await window.untilEnded(id);
    assert.ok(run.state === 'aborted');
    assert.deepEqual([run.exit.kind, run.exit.abort?.code], [shown, shown]);
    assert.ok(window.lines.some((line) => line.includes(`accepted as id${shown}`)));
    for (const line of window.lines) assert.doesNotMatch(line, /[\p{Cc}\u202e]/u);
  });

  test('F59 that exited without output is described five times more in half an hour, and then has no result', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    const [asked, began] = [fixture.sent('/describe'), fixture.clock.now()];
    await fixture.service.finishRun(runId, { kind: 'bare' });
    const run = await window.untilEnded(id);
    assert.ok(run.state === 'failed');
    assert.deepEqual(
      [run.failure.kind, run.runId, fixture.sent('/describe') - asked],
      ['noResult', runId, 6],
    );
    const minutes = (fixture.clock.now() - began) / 60_000;
    assert.ok(minutes >= 30 && minutes < 33, String(minutes));
  });

  test('F59 without a result can be tracked again by its ID once the service has more', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    const after = { kind: 'reply' as const, status: 200, body: JSON.stringify({ status: 'EXITED' }) };
    const heal = fixture.service.addFault({ match: { path: '/describe' }, after });
    assert.equal((await window.untilEnded(id)).state, 'failed');
    heal();
    await fixture.service.finishRun(runId);
    const again = await trackRun(fixture, window, runId);
    assert.notEqual(again, id);
    assert.equal((await window.untilEnded(again)).state, 'succeeded');
    assert.equal(await trackRun(fixture, window, runId), again, 'its end is known');
  });

  test('F60 that ended before the cancel arrived has its true result', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    await fixture.service.finishRun(runId);
    await fixture.passUntil(window.tracker.cancel(id));
    assert.equal((await window.untilEnded(id)).state, 'succeeded');
  });

  test('F60 that ends between the cancel and its effect has its true result', async (t) => {
    const fixture = await setUpFixture(t, { cancelDelayMs: 60_000 });
    const window = openWindow(t, fixture);
    const { id, runId } = await trackRemoteRun(fixture, window);
    await fixture.passUntil(window.tracker.cancel(id));
    assert.equal(window.store.get(id)?.state, 'cancelling');
    await fixture.service.finishRun(runId);
    assert.equal((await window.untilEnded(id)).state, 'succeeded');
  });

  test('F67 with an interrupted download is downloaded again in full', async (t) => {
    const { fixture, window, id, runId } = await setUpRun(t);
    await fixture.service.finishRun(runId);
    const cut = { kind: 'truncate' as const, bytes: 10 };
    fixture.service.addFault({ match: { method: 'GET', path: /\/storage\//, times: 1 }, after: cut });
    const run = await window.untilEnded(id);
    assert.ok(run.state === 'succeeded');
    assert.equal(fixture.sent(/artifact-download-url$/), 3);
    JSON.parse(await readFile(join(window.store.folderOf(id), 'findings.json'), 'utf8'));
  });

  test('F91 has no token and no signature in its state or in the log', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    const echo = (status: number) => {
      const body = `Bearer ${fixture.service.token} at https://store.example/a?signature=canary`;
      return { kind: 'reply' as const, status, body };
    };
    for (const path of ['/get-upload-url', '/confirm-upload', '/describe', '/delete'])
      fixture.service.addFault({ match: { path, times: 1 }, before: echo(503) });
    fixture.service.addFault({ match: { method: 'PUT', times: 1 }, before: echo(503) });
    fixture.service.addFault({ match: { path: '/dispatch' }, after: echo(200) });
    const { id } = await window.start();
    const { id: runId } = fixture.service.runs()[0]!;
    await fixture.passUntil(window.tracker.giveRunId(id, runId)).catch(() => undefined);
    await fixture.passUntil(window.tracker.giveRunId(id, runId));
    await fixture.service.finishRun(runId);
    await window.untilEnded(id);
    const names = await readdir(fixture.root, { recursive: true, withFileTypes: true });
    const files = names.filter((name) => name.isFile());
    assert.ok(files.length >= 4);
    // The archive may go while the files are read.
    const read = files.map((file) =>
      readFile(join(file.parentPath, file.name), 'utf8').catch((error: unknown) => {
        if (systemCode(error) === 'ENOENT') return '';
        throw error;
      }),
    );
    const texts = await Promise.all(read);
    assert.ok(window.lines.some((line) => line.includes('[redacted]')));
    for (const text of [...texts, ...window.lines]) {
      assert.ok(!text.includes(fixture.service.token) && !text.includes('canary'), text);
      assert.doesNotMatch(text, /signature=\w/);
    }
  });
});
