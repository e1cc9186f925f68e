import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import {
  copyMcpServer,
  type McpArguments,
  type McpRuntime,
  renewMcpServer,
  toMcpConfiguration,
} from '../../../../src/editor/agents/mcpConfiguration.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1 });
const given = fc.record<McpArguments>({ server: text, folder: text, storage: text });
const runtime = fc.oneof<fc.Arbitrary<McpRuntime>[]>(
  fc.constant({ command: 'node' }),
  fc.record({ command: text, env: fc.constant({ ELECTRON_RUN_AS_NODE: '1' }) }),
);

test('the copied configuration starts the server, under a name that clients take, in JSON and in TOML', () => {
  fc.assert(
    fc.property(runtime, given, (by, args) => {
      const { server, folder, storage } = args;
      const started = { ...by, args: [server, '--folder', folder, '--storage', storage] };
      const json = JSON.parse(toMcpConfiguration('json', by, args)) as { mcpServers: object };
      const [[name, entry] = []] = Object.entries(json.mcpServers);
      assert.match(String(name), /^whitebox(-[A-Za-z\d]+){1,30}$/);
      assert.ok(`mcp__${String(name)}__getRunStatus`.length <= 60);
      assert.deepEqual(entry, { type: 'stdio', ...started });
      const toml = parse(toMcpConfiguration('toml', by, args));
      assert.deepEqual(JSON.parse(JSON.stringify(toml)), { mcp_servers: { [String(name)]: started } });
    }),
  );
});

test('a server has the readable part of its folder’s name; two folders with one name have two servers', () => {
  const nameOf = (folder: string): string[] => {
    const args = { server: 's', folder, storage: 't' } as const;
    const { mcpServers } = JSON.parse(toMcpConfiguration('json', { command: 'node' }, args)) as {
      mcpServers: object;
    };
    return Object.keys(mcpServers);
  };
  assert.match(String(nameOf('/a/shop')), /^whitebox-shop-\w{6}$/);
  assert.match(String(nameOf('/a/__my_ショップ__')), /^whitebox-my-\w{6}$/);
  assert.notDeepEqual(nameOf('/a/shop'), nameOf('/b/shop'));
});

test('the server is copied only when the user asks for its configuration, and an update replaces the copy', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'mcp-copy-'));
  t.after(() => rm(folder, { recursive: true }));
  const [bundled, copy] = [path.join(folder, 'extension.cjs'), path.join(folder, 'mcp.cjs')];
  await writeFile(bundled, 'old version');
  await renewMcpServer(bundled, copy);
  await assert.rejects(stat(copy), { code: 'ENOENT' });
  await copyMcpServer(bundled, copy);
  assert.equal(await readFile(copy, 'utf8'), 'old version');
  if (process.platform !== 'win32') assert.equal((await stat(copy)).mode & 0o777, 0o600);
  await writeFile(bundled, 'new version');
  await renewMcpServer(bundled, copy);
  assert.equal(await readFile(copy, 'utf8'), 'new version');
  assert.deepEqual((await readdir(folder)).sort(), ['extension.cjs', 'mcp.cjs']);
  const { ino } = await stat(copy);
  await renewMcpServer(bundled, copy);
  assert.equal((await stat(copy)).ino, ino, 'what is up to date stays as it is');
});
