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

  test('every file of the archive is received, under its own name', async (t) => {
    const caller = await callService(t);
    await caller.start(await sampleArchive());
    await caller.service.settle();
    const received = caller.service.runs()[0]!.archives[0]!.entries.map(({ path }) => path);
    assert.ok(received.includes('docs/設計.md'), received.join());
    assert.ok(received.includes('.gitignore'));
  });

  for (const { language, title, level, finding } of [
    {
      language: 'english',
      title: '# Whitebox Assessment Report',
      level: '| Critical | 3 |',
      finding: 'SQL injection through',
    },
    {
      language: 'japanese',
      title: '# ホワイトボックス診断レポート',
      level: '| 重大 | 3 |',
      finding: 'SQL インジェクション',
    },
  ]) {
    test(`writes the report in ${language}`, async (t) => {
      const caller = await callService(t);
      const runId = await caller.start(await sampleArchive(), { language });
      const findings = await findingsOf(caller, runId);
      const report = await artifact(caller, runId, 'report');
      assert.ok(report.startsWith(`${title}\n`), report.slice(0, 100));
      assert.ok(report.includes(level));
      assert.ok(findings[0]?.title.includes(finding), findings[0]?.title);
      for (const { title: heading, locations } of findings) {
        assert.ok(report.includes(`. ${heading}\n`), heading);
        for (const { file_path, start_line, snippet } of locations) {
          assert.ok(report.includes(`\`${file_path}:${start_line}\`\n`), `${file_path}:${start_line}`);
          assert.ok(report.includes(`\n${snippet}\n`), snippet);
        }
      }
      assert.match(report, /\n```python\n {4}subprocess\.run/);
      if (language === 'japanese') assert.doesNotMatch(report, /Severity|Recommendation|Places/);
      else assert.doesNotMatch(report.replaceAll(/```[^]*?```/g, ''), /[ぁ-ん]/);
    });
  }
});

describe('what a whitebox run finds', () => {
  const cases: [string, string, string[]][] = [
    ['a.js', 'db.query("SELECT * FROM t WHERE id = " + id);', ['CWE-89']],
    ['a.js', 'db.query("SELECT * FROM t WHERE id = ?", [id]); const text = "select" + "ed";', []],
    ['a.js', 'eval(text); eval(other);', ['CWE-95', 'CWE-95']],
    ['a.js', 'eval("1 + 1"); element.innerHTML = "";', []],
    ['a.js', 'const config = { apiKey: "invented-0123456789", title: "long enough" };', ['CWE-798']],
    ['a.js', 'const apiKey = process.env.API_KEY; const password = "short";', []],
    ['a.js', 'crypto.createHash("sha256"); crypto.createHash("SHA1");', ['CWE-328']],
    ['a.js', 'const newToken = Math.random(); const dice = Math.random();', ['CWE-338']],
    ['a.js', '// TODO: 権限の確認\n// TODO: rename', ['CWE-546']],
    ['a.tsx', 'const a = <p>{eval(text)}</p>;', ['CWE-95']],
    ['a.py', 'yaml.load(data)\nyaml.load(f, Loader=yaml.SafeLoader)\n', ['CWE-502']],
    ['a.txt', 'eval(text)', []],
    ['node_modules/a/a.js', 'eval(text)', []],
    ['big.js', `eval(text)\n${' '.repeat(1024 * 1024)}`, []],
  ];

  test('each rule meets its weakness and passes over the harmless neighbour', async (t) => {
    const caller = await callService(t);
    for (const [path, content, expected] of cases) {
      const findings = await findingsOf(caller, await caller.start(tarGz([{ path, content }])));
      const found = findings.flatMap(({ cwe, locations }) => locations.map(() => cwe));
      assert.deepEqual(found, expected, content.slice(0, 80));
    }
  });

  test('lines are true with CRLF, and in a zip', async (t) => {
    const caller = await callService(t);
    const archive = zip([{ path: 'フォルダー/a.js', content: '\r\n\r\neval(text);\r\n' }]);
    const findings = await findingsOf(caller, await caller.start(archive, { archiveType: 'zip' }));
    assert.deepEqual(placesOf(findings), ['critical CWE-95 フォルダー/a.js:3']);
    assert.equal(findings[0]?.locations[0]?.snippet, 'eval(text);');
  });

  test('with several targets, each location names its own', async (t) => {
    const caller = await callService(t);
    const archives = [
      tarGz([{ path: 'a.js', content: '' }]),
      tarGz([{ path: 'a.js', content: 'eval(text)' }]),
    ];
    const targets: object[] = [];
    for (const archive of archives) {
      targets.push({ file_upload: { file_id: await caller.upload(archive), archive_type: 'tar_gz' } });
    }
    const dispatched = await caller.whitebox('dispatch', { input: { targets, language: 'english' } });
    const findings = await findingsOf(caller, text(dispatched, 'workflow_run_id'));
    assert.deepEqual(
      findings.map(({ locations }) => locations[0]?.target_index),
      [1],
    );
  });

  test('a clean archive gives an empty list and a report that says so', async (t) => {
    const caller = await callService(t);
    const runId = await caller.start(tarGz([{ path: 'a.js', content: 'export const a = 1;\n' }]));
    assert.deepEqual(await findingsOf(caller, runId), []);
    assert.match(await artifact(caller, runId, 'report'), /It found no weaknesses\./);
  });

  test('backticks in code and in a name do not break out of the report', async (t) => {
    const caller = await callService(t);
    const runId = await caller.start(tarGz([{ path: 'a`b|c.js', content: 'eval(a + "```")' }]));
    await caller.service.settle();
    const report = await artifact(caller, runId, 'report');
    assert.ok(report.includes('\n`` a`b|c.js:1 ``\n\n````js\neval(a + "```")\n````\n'), report);
    assert.ok(report.includes('| `` a`b\\|c.js:1 `` |'), report);
  });
});

describe('archives that must not be unpacked', () => {
  const plain = { path: 'a.js', content: 'eval(x)' };
  const bad: [string, string, Buffer][] = [
    ['a name that leads out', 'tar_gz', tarGz([plain, { path: '../outside.js', content: '' }])],
    ['a name that leads out further in', 'tar_gz', tarGz([{ path: 'a/../../b.js', content: '' }])],
    ['an absolute name', 'tar_gz', tarGz([{ path: '/etc/invented', content: '' }])],
    ['a drive letter', 'tar_gz', tarGz([{ path: 'C:\\invented.js', content: '' }])],
    ['a backslash that leads out', 'tar_gz', tarGz([{ path: 'a\\..\\..\\b.js', content: '' }])],
    ['a symbolic link', 'tar_gz', tarGz([{ path: 'link.js', type: 'SymbolicLink', linkpath: 'a.js' }])],
    ['a hard link', 'tar_gz', tarGz([plain, { path: 'link.js', type: 'Link', linkpath: 'a.js' }])],
    ['a device', 'tar_gz', tarGz([{ path: 'null', type: 'CharacterDevice' }])],
    ['a pipe', 'tar_gz', tarGz([{ path: 'pipe', type: 'FIFO' }])],
    ['the same name twice', 'tar_gz', tarGz([plain, plain])],
    ['the same name in another spelling', 'tar_gz', tarGz([plain, { ...plain, path: './a.js' }])],
    ['an empty segment in a name', 'tar_gz', tarGz([{ ...plain, path: 'a//b.js' }])],
    ['no end marker', 'tar_gz', tarGz([plain], { endMarker: false })],
    ['its end cut off', 'tar_gz', tarGz([plain]).subarray(0, -12)],
    ['no gzip', 'tar_gz', Buffer.from('this is no archive at all')],
    ['a zip said to be tar_gz', 'tar_gz', zip([plain])],
    ['a tar.gz said to be zip', 'zip', tarGz([plain])],
    ['a name that leads out of a zip', 'zip', zip([{ path: '../outside.js', content: '' }])],
    ['an absolute name in a zip', 'zip', zip([{ path: '/etc/invented', content: '' }])],
    ['a symbolic link in a zip', 'zip', zip([{ path: 'link.js', content: 'a.js', mode: 0o120_777 }])],
    ['a wrong checksum in a zip', 'zip', zip([{ ...plain, wrongChecksum: true }])],
    ['a dot segment in a name in a zip', 'zip', zip([{ ...plain, path: 'a/./b.js' }])],
    ['the same name twice in a zip', 'zip', zip([plain, plain])],
  ];

  for (const [what, archiveType, archive] of bad) {
    test(`an archive with ${what} aborts the run`, async (t) => {
      const caller = await callService(t);
      const runId = await caller.start(archive, { archiveType });
      await caller.service.settle();
      const { status, output, artifacts } = (await caller.describe(runId)) as {
        status: string;
        output: {
          kind: string;
          abortedReason: { code: string; detail: { target_index: number; message: string } };
        };
        artifacts: unknown;
      };
      assert.deepEqual(
        [status, output.kind, output.abortedReason.code],
        ['EXITED', 'ABORTED', 'invalid_archive'],
      );
      assert.equal(output.abortedReason.detail.target_index, 0);
      assert.ok(output.abortedReason.detail.message.length > 0);
      assert.deepEqual(artifacts, []);
    });
  }
});
