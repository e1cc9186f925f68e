import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { create } from 'tar';
import { tarGz, zip } from './archiveMaker.ts';
import { callService, send, text, type ServiceCaller } from './serviceCaller.ts';

const sample = join(import.meta.dirname, '../../fixtures/sample-workspace');

interface Finding {
  title: string;
  severity: string;
  cwe: string;
  locations: {
    target_index: number;
    file_path: string;
    start_line: number;
    end_line: number;
    snippet: string;
  }[];
}

async function sampleArchive(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const pack = create({ gzip: true, cwd: sample, portable: true }, readdirSync(sample));
  for await (const chunk of pack as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function artifact({ whitebox }: ServiceCaller, runId: string, name: string): Promise<string> {
  const answer = await whitebox('get-artifact-download-url', { workflow_run_id: runId, artifact_name: name });
  return (await send('GET', text(answer, 'url'))).text;
}

async function findingsOf(caller: ServiceCaller, runId: string): Promise<Finding[]> {
  await caller.service.settle();
  return JSON.parse(await artifact(caller, runId, 'findings')) as Finding[];
}

const placesOf = (findings: readonly Finding[]) =>
  findings.flatMap(({ cwe, severity, locations }) =>
    locations.map(({ file_path, start_line }) => `${severity} ${cwe} ${file_path}:${start_line}`),
  );

describe('a whitebox run on the sample workspace', () => {
  test('finds each planted weakness at its line, with the text of that line', async (t) => {
    const caller = await callService(t);
    const findings = await findingsOf(caller, await caller.start(await sampleArchive()));
    assert.deepEqual(placesOf(findings), [
      'critical CWE-89 src/orders.js:5',
      'critical CWE-89 src/orders.js:12',
      'critical CWE-78 tools/import_stock.py:10',
      'critical CWE-502 tools/import_stock.py:15',
      'high CWE-79 public/cart.js:5',
      'high CWE-22 src/invoices.js:5',
      'high CWE-918 src/preview.ts:18',
      'high CWE-798 src/session.js:3',
      'medium CWE-328 src/passwords.js:7',
      'medium CWE-328 src/passwords.js:8',
      'medium CWE-295 src/preview.ts:5',
      'medium CWE-338 src/session.js:11',
      'low CWE-1004 src/session.js:12',
      'none CWE-546 src/server.js:14',
    ]);
    for (const { file_path, start_line, end_line, snippet } of findings.flatMap(
      ({ locations }) => locations,
    )) {
      const lines = readFileSync(join(sample, file_path), 'utf8').split('\n');
      assert.equal(snippet, lines.slice(start_line - 1, end_line).join('\n'));
    }
  });
});

describe('another whitebox run', () => {
  test('has right lines with CRLF and in a zip', async (t) => {
    const caller = await callService(t);
    const archive = zip([{ path: 'フォルダー/a.js', content: '\r\n\r\neval(text);\r\n' }]);
    const findings = await findingsOf(caller, await caller.start(archive, { archiveType: 'zip' }));
    assert.deepEqual(placesOf(findings), ['critical CWE-95 フォルダー/a.js:3']);
    assert.equal(findings[0]?.locations[0]?.snippet, 'eval(text);');
  });
});

describe('unsafe archives', () => {
  const plain = { path: 'a.js', content: 'eval(x)' };
  const bad: [string, string, Buffer][] = [
    ['a name that leads out', 'tar_gz', tarGz([plain, { path: '../outside.js', content: '' }])],
    ['an absolute name', 'tar_gz', tarGz([{ path: '/etc/invented', content: '' }])],
    ['a drive letter', 'tar_gz', tarGz([{ path: 'C:\\invented.js', content: '' }])],
    ['a symbolic link', 'tar_gz', tarGz([{ path: 'link.js', type: 'SymbolicLink', linkpath: 'a.js' }])],
    ['a hard link', 'tar_gz', tarGz([plain, { path: 'link.js', type: 'Link', linkpath: 'a.js' }])],
    ['a pipe', 'tar_gz', tarGz([{ path: 'pipe', type: 'FIFO' }])],
    ['the same name twice', 'tar_gz', tarGz([plain, plain])],
    ['no end marker', 'tar_gz', tarGz([plain], { endMarker: false })],
    ['its end cut off', 'tar_gz', tarGz([plain]).subarray(0, -12)],
    ['a tar.gz said to be zip', 'zip', tarGz([plain])],
    ['an absolute name in a zip', 'zip', zip([{ path: '/etc/invented', content: '' }])],
  ];

  test('abort the run, which names the target', async (t) => {
    const caller = await callService(t);
    for (const [what, archiveType, archive] of bad) {
      const runId = await caller.start(archive, { archiveType });
      await caller.service.settle();
      const { status, output, artifacts } = (await caller.describe(runId)) as {
        status: string;
        output: { kind: string; abortedReason: { code: string; detail: { target_index: number } } };
        artifacts: unknown;
      };
      const { code, detail } = output.abortedReason;
      assert.deepEqual(
        [status, output.kind, code, detail.target_index, artifacts],
        ['EXITED', 'ABORTED', 'invalid_archive', 0, []],
        what,
      );
    }
  });
});
