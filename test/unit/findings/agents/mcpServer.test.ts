import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, test, type TestContext } from 'node:test';
import { build } from 'esbuild';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { identityOf } from '../../../../src/core/findings/identity.ts';
import { formatEntry } from '../../../../src/core/findings/triage/book.ts';
import { triagePathsOf } from '../../../../src/core/findings/triage/triageFiles.ts';
import { TriageStore } from '../../../../src/core/findings/triage/triageStore.ts';
import type { TriageState } from '../../../../src/core/findings/triage/triage.ts';
import { toTriageSubjects } from '../../../../src/core/findings/shownFinding.ts';
import { FolderCalls } from '../../../../src/core/yieldingWork.ts';
import { silent } from '../../../silentLog.ts';
import { clock, finding, type FindingFixture, setUpFindings } from '../findingFixture.ts';
import { caselessFolder } from '../../core/caselessFolder.ts';
import { withLinks } from '../../core/systemSkips.ts';

/** The server is bundled as CommonJS, which starts several times faster than its sources. */
const server = path.join(mkdtempSync(path.join(tmpdir(), 'mcp-')), 'mcp.cjs');
after(() => rm(path.dirname(server), { recursive: true }));
await build({
  entryPoints: [path.resolve(import.meta.dirname, '../../../../src/mcp.ts')],
  outfile: server,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node22',
  define: { 'import.meta.filename': '__filename' },
});

interface Answer {
  readonly total: number;
  readonly notRead?: number;
  readonly runs: readonly Readonly<Record<'run' | 'state' | 'savedAt', string>>[];
  readonly findings: readonly (Readonly<
    Record<'finding' | 'title' | 'location' | 'drift' | 'triage' | 'verdict', string>
  > & { readonly owner: unknown })[];
  readonly locationsInWorkspace: readonly { readonly path: string }[];
  readonly reported: { readonly description: string };
}

/** Starts the server for a folder of a fixture and connects an MCP client. */
async function connect(
  t: TestContext,
  { root }: Pick<FindingFixture, 'root'>,
  { folder = 'shop', args = [], node = [] }: { folder?: string; args?: string[]; node?: string[] } = {},
) {
  const real = await realpath(path.join(root, folder));
  const client = new Client({ name: 'invented-agent', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...node, server, '--folder', real, '--storage', root, ...args],
    stderr: 'ignore',
  });
  t.after(() => client.close());
  await client.connect(transport);
  const call = async (name: string, input: object, fails: boolean) => {
    const { content, isError = false } = await client.callTool({ name, arguments: { ...input } });
    const [{ text }] = content as [{ text: string }];
    assert.equal(isError, fails, text);
    return text;
  };
  const ask = async (tool: string, input: object = {}): Promise<Answer> => {
    const text = await call(tool, input, false);
    const [, fence = '', data = ''] = /^(UNTRUSTED-DATA-\w+)$([^]*)^\1$/m.exec(text) ?? [];
    assert.ok(fence !== '' && !data.includes(fence), text);
    return JSON.parse(data) as Answer;
  };
  return {
    client,
    ask,
    titles: async (input?: object) => (await ask('listFindings', input)).findings.map(({ title }) => title),
    refusal: (tool: string, input: object) => call(tool, input, true),
  };
}

const triageFolder = ({ root }: FindingFixture): string => path.join(root, 'triage');

/** A user decides about all shown findings of the folder `shop`, which a window has open. */
async function decide(fixture: FindingFixture, state: TriageState): Promise<void> {
  const pathsFor = (folder: string) => triagePathsOf(folder, triageFolder(fixture), false);
  const store = new TriageStore({ pathsFor, calls: new FolderCalls(silent), clock, log: silent });
  await store.load([path.join(fixture.root, 'shop')]);
  await store.set(fixture.store.all().flatMap(toTriageSubjects), state, 'Invented reason.');
}

/** Agents call a finding of a run by this name. */
async function nameOf({ runs }: FindingFixture, id: string, index = 0): Promise<string> {
  const content = await readFile(path.join(runs.folderOf(id), 'findings.json'));
  return `${id}:${hash('sha256', content, 'hex').slice(0, 16)}:${String(index)}`;
}

async function snapshot(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.map(async (entry) => {
    const file = path.join(entry.parentPath, entry.name);
    return entry.isFile() ? `${file} ${(await readFile(file)).toString('base64').slice(0, 4_000)}` : file;
  });
  return (await Promise.all(files)).sort();
}

test('a client lists and calls every tool without a running VS Code', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('Old'));
  const text = 'one\ntwo\nthree\n';
  await fixture.addRun(['shop'], finding('SQL'), { 'a.js': text });
  await decide(fixture, 'confirmed');
  await writeFile(path.join(fixture.root, 'shop', 'a.js'), `zero\n${text}`);
  execFileSync('git', ['init', '-q', fixture.root]);
  await writeFile(path.join(fixture.root, 'CODEOWNERS'), 'shop/ @ana\n');
  const { client, ask } = await connect(t, fixture);
  const { tools } = await client.listTools();
  assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
  const names = tools.map(({ name }) => name);
  assert.deepEqual(names, ['listFindings', 'getFinding', 'getRunStatus']);
  const list = await ask('listFindings');
  const listed = list.findings.map(({ title, location, drift, triage, verdict }) =>
    [title, location, drift, triage, verdict].join(' '),
  );
  assert.deepEqual(listed, ['SQL a.js:3 moved confirmed new', 'Old a.js:2 unknown open unknown']);
  assert.deepEqual(list.findings[0]?.owner, ['@ana']);
  const { mtime } = await stat(path.join(fixture.runs.folderOf('run-2'), 'result.json'));
  assert.deepEqual(list.runs, [{ run: 'run-2', state: 'succeeded', savedAt: mtime.toISOString() }]);
  const whole = await ask('getFinding', { finding: list.findings[0].finding });
  assert.equal(whole.locationsInWorkspace[0]?.path, 'a.js');
  const { runs } = await ask('getRunStatus');
  const states = runs.map(({ run, state }) => `${run} ${state}`);
  assert.deepEqual(states, ['run-2 succeeded', 'run-1 succeeded']);
});

test('the server writes and locks nothing in the storage, and names what it cannot read', async (t) => {
  const fixture = await setUpFindings(t);
  await fixture.addRun(['shop'], finding('Known'));
  const { id } = await fixture.addRun(['shop'], finding('Too large'));
  await truncate(path.join(fixture.runs.folderOf(id), 'findings.json'), 65 * 1024 * 1024);
  for (const [name, journal] of Object.entries({
    damaged: '{"version":1',
    later: JSON.stringify({ version: 99, id: 'later', workflow: 'whitebox-assessment', state: 'x' }),
  })) {
    await mkdir(fixture.runs.folderOf(name));
    await writeFile(path.join(fixture.runs.folderOf(name), 'run.json'), journal);
  }
  const before = await snapshot(fixture.root);
  const { ask } = await connect(t, fixture);
  const { total, runs } = await ask('listFindings');
  assert.deepEqual([total, runs], [0, [{ run: id, state: 'succeeded', failure: 'findingsTooLarge' }]]);
  assert.equal((await ask('getRunStatus')).notRead, 2);
  assert.deepEqual(await snapshot(fixture.root), before);
});

test('F147 decisions that came with the folder do not count, and without a whole book they are unknown, never open', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('Weak hash'));
  const shop = path.join(fixture.root, 'shop');
  const shared = path.join(shop, '.vscode', 'whitebox-triage');
  await mkdir(shared, { recursive: true });
  const decision = { state: 'falsePositive', note: 'invented', at: 1, title: '', path: '' } as const;
  const entry = { ...identityOf(fixture.store.all()[0]!), ...decision };
  await writeFile(path.join(shared, 'theirs.json'), formatEntry(entry));
  const { ask } = await connect(t, fixture);
  const state = async (): Promise<string | undefined> => (await ask('listFindings')).findings[0]?.triage;
  assert.equal(await state(), 'open');
  await decide(fixture, 'confirmed');
  assert.equal(await state(), 'confirmed');
  await appendFile(triagePathsOf(shop, triageFolder(fixture), false).book, '{}\n');
  assert.equal(await state(), 'unknown');
});

test('F153 concurrent and later calls read findings once, and only the files of the answer', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const file = (name: string): string => path.join(fixture.root, 'shop', name);
  const items = ['a.js', 'b.js', 'later.js'].map((name, at) => ({
    title: name,
    severity: (['high', 'medium', 'low'] as const)[at],
    file: name,
    line: 2,
  }));
  const text = 'one\ntwo\n';
  const uploaded = { 'a.js': text, 'b.js': text, 'later.js': text };
  const { id } = await fixture.addRun(['shop'], JSON.stringify(items), uploaded);
  await rm(file('later.js'));
  const { ask, seen } = await watched(t, fixture);
  const readNow = async () => {
    const names = (await seen()).filter((each) => /\.json$|^(?:a|b|later)\.js$/.test(each));
    const isOnce = (name: string): boolean => !name.endsWith('.js');
    return [...new Set(names.filter((name) => !isOnce(name)))].sort().concat(names.filter(isOnce));
  };
  const worst = async () => (await ask('listFindings', { limit: 1 })).findings[0];

  await Promise.all(Array.from({ length: 8 }, worst));
  assert.deepEqual(await readNow(), ['a.js', 'result.json']);
  await writeFile(file('a.js'), 'one\n');
  assert.equal((await worst())?.drift, 'gone');
  await decide(fixture, 'confirmed');
  assert.equal((await worst())?.triage, 'confirmed');
  assert.deepEqual(await readNow(), ['a.js']);
  const name = await nameOf(fixture, id, 2);
  const later = () => ask('getFinding', { finding: name });
  assert.deepEqual((await later()).locationsInWorkspace, []);
  await writeFile(file('later.js'), text);
  assert.equal((await later()).locationsInWorkspace[0]?.path, 'later.js');
  assert.deepEqual(await readNow(), ['later.js']);
});

test('F153 the last saved result answers, also if it is out of date; without one, decisions are unknown', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const about = (title: string): string =>
    finding(title, { file: 'a.js', line: 2, description: `About ${title}` });
  await fixture.addRun(['shop'], about('Old'));
  const { id } = await fixture.addRun(['shop'], about('As saved'));
  await decide(fixture, 'falsePositive');
  const runFolder = fixture.runs.folderOf(id);
  const { ask } = await connect(t, fixture);
  const answers = async () => {
    const { findings, runs } = await ask('listFindings', { triage: ['falsePositive'] });
    const { reported } = await ask('getFinding', { finding: findings[0]?.finding });
    return [findings[0]?.title, findings[0]?.triage, runs[0]?.savedAt === 'never', reported.description];
  };
  await writeFile(path.join(runFolder, 'findings.json'), about('Downloaded again'));
  assert.deepEqual(await answers(), ['As saved', 'falsePositive', false, 'About As saved']);
  await rm(path.join(runFolder, 'result.json'));
  const before = await snapshot(fixture.root);
  assert.deepEqual(await answers(), ['Downloaded again', 'unknown', true, 'About Downloaded again']);
  assert.deepEqual(await snapshot(fixture.root), before, 'nothing is written');
});

test('F153 a missing storage is an error and differs from no findings', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('Own'));
  const { refusal } = await connect(t, fixture, { args: ['--storage', path.join(fixture.root, 'gone')] });
  for (const tool of ['listFindings', 'getRunStatus'])
    assert.match(await refusal(tool, {}), /^The folder of the stored runs does not exist: .*gone/);
});

test('F141 no argument gives access to the runs or findings of another folder', withLinks, async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  const items = ['shop', 'other'].map((name) => ({ title: `Of ${name}`, file: `${name}/a.js`, line: 1 }));
  await fixture.addRun(['shop', 'other'], JSON.stringify(items), { 'a.js': 'one\n' });
  const { id } = await fixture.addRun(['other'], finding('Secret'));
  // A hostile repository or an attacker has such links.
  await symlink(path.join(fixture.root, 'other'), path.join(fixture.root, 'shop', 'link'));
  await fixture.addRun(['shop/link'], finding('Secret behind a link'));
  await symlink(fixture.runs.folderOf(id), fixture.runs.folderOf('run-9'));
  const { ask, titles, refusal } = await connect(t, fixture);
  assert.deepEqual(await titles({ path: '' }), ['Of shop']);
  for (const tool of ['listFindings', 'getRunStatus']) {
    const seen = (await ask(tool)).runs.map(({ run }) => run);
    assert.deepEqual(seen, ['run-1']);
  }
  const secret = await nameOf(fixture, id);
  const others = [await nameOf(fixture, 'run-1', 1), await nameOf(fixture, 'run-3')];
  for (const name of [secret, ...others, secret.replace(id, 'run-9')])
    assert.match(await refusal('getFinding', { finding: name }), /^There is no such finding/);
  for (const [tool, input] of [
    ['getFinding', { finding: `../runs/${secret}` }],
    ['getFinding', { finding: `run-1/../${secret}` }],
    ['listFindings', { folder: path.join(fixture.root, 'other') }],
    ['listFindings', { run: id }],
    ['getRunStatus', { storage: '/' }],
  ] as const)
    assert.match(await refusal(tool, input), /does not fit/);
  for (const tool of ['setTriage', 'whitebox_setTriage', 'constructor', '__proto__'])
    assert.match(await refusal(tool, { finding: secret, state: 'open' }), /no such tool/);
  assert.deepEqual(await titles({ path: '../other' }), []);
  assert.match(
    await refusal('listFindings', { changedOnBranch: true }),
    /^changedOnBranch cannot be answered: only the tools in VS Code/,
  );
});

test(
  'F141 any spelling of the folder starts the server, but a link, which may change its target',
  withLinks,
  async (t) => {
    const fixture = await setUpFindings(t, 'shop');
    await fixture.addRun(['shop'], finding('Own'));
    const real = await realpath(path.join(fixture.root, 'shop'));
    const spellings = [`${real}${path.sep}`, `${path.dirname(real)}/./shop/.`, `${real}/../shop`];
    for (const spelled of spellings) {
      const { ask } = await connect(t, fixture, { args: ['--folder', spelled] });
      assert.equal((await ask('listFindings')).total, 1, spelled);
    }
    const link = path.join(path.dirname(real), 'link');
    await symlink(real, link);
    await assert.rejects(connect(t, fixture, { args: ['--folder', link] }), /Connection closed/);
  },
);

test('F141 the folder in another letter case starts the server where the disk ignores it', async (t) => {
  const caseless = await caselessFolder(t);
  if (caseless === undefined) return;
  const fixture = await setUpFindings(t);
  await fixture.addRun(['shop'], finding('Own'));
  await mkdir(path.join(caseless, 'Shop'));
  await connect(t, fixture, { args: ['--folder', path.join(await realpath(caseless), 'SHOP')] });
});

test('F141 what is no message gets the protocol’s error, and the next message an answer', async (t) => {
  const fixture = await setUpFindings(t, 'shop');
  await fixture.addRun(['shop'], finding('Own'));
  const folder = await realpath(path.join(fixture.root, 'shop'));
  const child = spawn(process.execPath, [server, '--folder', folder, '--storage', fixture.root], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  t.after(() => child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ask = async (line: string) => {
    child.stdin.write(`${line}\n`);
    const { value = '' } = (await lines.next()) as { value?: string };
    const { id, error } = JSON.parse(value) as { id: unknown; error?: { code: number; message: string } };
    return [id, error?.code, (error?.message.length ?? 0) <= 200];
  };
  const ping = { jsonrpc: '2.0', id: 7, method: 'ping' };
  const long = 'x'.repeat(100_000);
  for (const [line, ...expected] of [
    ['{"jsonrpc":"2.0",', null, -32700],
    [JSON.stringify([ping, ping]), null, -32600],
    [JSON.stringify({ id: 1, method: 'ping' }), null, -32600],
    [JSON.stringify({ ...ping, method: long }), 7, -32601],
    [JSON.stringify({ ...ping, method: 'tools/call', params: { [long]: 1 } }), 7, -32603],
    [JSON.stringify(ping), 7, undefined],
  ] as const)
    assert.deepEqual(await ask(line), [...expected, true]);
});

test('F141 the server opens no socket, starts no program and reads no secret store', async (t) => {
  const fixture = await setUpFindings(t);
  await fixture.addRun(['shop'], finding('Own'));
  const { ask, seen } = await watched(t, fixture);
  assert.equal((await ask('listFindings')).total, 1);
  await ask('getFinding', { finding: await nameOf(fixture, 'run-1') });
  await ask('getRunStatus');
  const noted = (await seen()).filter((each) => !/\.js(?:on)?$/.test(each));
  // The watch notes itself, in the server's process and in its workers.
  assert.ok(noted.length >= 2);
  assert.deepEqual([...new Set(noted)], ['watched']);
  const connecting = "try { require('node:net').connect(9, '127.0.0.1').on('error', () => {}); } catch {}";
  const other = await watched(t, fixture, connecting);
  assert.ok((await other.seen()).includes('net.connect'), 'it would be seen');
});

/**
 * The server notes reads of files with findings or code, sockets, DNS lookups, and child processes.
 */
async function watched(t: TestContext, fixture: FindingFixture, more = '') {
  const [watch, notes] = ['watch.cjs', 'seen.txt'].map((name) => path.join(fixture.root, name));
  const script = `
    const fs = require('node:fs');
    const append = fs.appendFileSync;
    const note = (what) => append(${JSON.stringify(notes)}, what + '\\n');
    const watch = (owner, keys, say) => {
      for (const key of keys) {
        const real = owner[key];
        owner[key] = function (...args) { say(key, args[0]); return real.apply(this, args); };
      }
    };
    const named = (name) => (key) => note(name + '.' + key);
    const read = (key, file) =>
      /(\\/findings\\.json|result\\.json|shop.*\\.js)$/.test(String(file)) &&
      note(String(file).replace(/.*[\\\\/]/, ''));
    const net = require('node:net');
    watch(net.Socket.prototype, ['connect'], named('net'));
    watch(net.Server.prototype, ['listen'], named('net'));
    watch(require('node:dgram'), ['createSocket'], named('dgram'));
    watch(require('node:dns'), ['lookup', 'resolve'], named('dns'));
    watch(require('node:child_process').ChildProcess.prototype, ['spawn'], named('child_process'));
    watch(fs.promises, ['readFile', 'open'], read);
    watch(fs, ['open'], read);
    note('watched');
  `;
  await writeFile(watch!, script + more);
  const agent = await connect(t, fixture, { node: ['--require', watch!] });
  const seen = async (): Promise<readonly string[]> => {
    const names = (await readFile(notes!, 'utf8')).trim().split('\n');
    await writeFile(notes!, '');
    return names;
  };
  return { ...agent, seen };
}
