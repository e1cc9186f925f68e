import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { median } from '../pairs.ts';
import type { Row } from '../rows.ts';
import { makeRun } from './findingsCase.ts';

const server = join(import.meta.dirname, '../../../dist/mcp.cjs');
const findings = 10_000;
const calls = 8;

interface Asked {
  readonly firstMs: number;
  readonly againMs: number;
  readonly peakMb: number;
}

/** An agent calls the MCP server once, again, and several times at once. */
export async function measureMcp(scratch: string, times: number): Promise<Row[]> {
  const root = join(scratch, 'mcp');
  makeRun(root, findings);
  const one: Asked[] = [];
  const many: Asked[] = [];
  for (let time = 0; time < times; time++) {
    one.push(await ask(root, 1));
    many.push(await ask(root, calls));
  }
  const corpus = `${findings} findings`;
  const medianOf = (some: readonly Asked[], key: keyof Asked): number =>
    median(some.map((each) => each[key]));
  return [
    { what: 'MCP: next call', corpus, unit: 'ms', ours: medianOf(one, 'againMs'), target: { atMost: 100 } },
    {
      what: `MCP: ${calls} calls at once, peak memory`,
      corpus,
      unit: 'MB',
      ours: medianOf(many, 'peakMb'),
      peer: medianOf(one, 'peakMb'),
      peerName: 'one call',
      ratio: median(many.map(({ peakMb }, at) => peakMb / (one[at]?.peakMb ?? NaN))),
      target: { atMost: 1.5 },
    },
  ];
}

async function ask(root: string, atOnce: number): Promise<Asked> {
  const [script, peak] = [join(root, 'peak.cjs'), join(root, 'peak.txt')];
  // This counts memory of the process, also inside workers.
  writeFileSync(
    script,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(peak)}, String(process.resourceUsage().maxRSS)));`,
  );
  const client = new Client({ name: 'bench', version: '1' });
  const args = ['--require', script, server, '--folder', join(root, 'shop'), '--storage', root];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  const list = async (): Promise<number> => {
    const start = performance.now();
    const { isError } = await client.callTool({ name: 'listFindings', arguments: { limit: 100 } });
    if (isError === true) throw new Error('the server gave no findings');
    return performance.now() - start;
  };
  const first = await Promise.all(Array.from({ length: atOnce }, list));
  const again = [await list(), await list(), await list()];
  await client.close();
  return {
    firstMs: Math.max(...first),
    againMs: median(again),
    peakMb: Number(readFileSync(peak, 'utf8')) / 1_000,
  };
}
