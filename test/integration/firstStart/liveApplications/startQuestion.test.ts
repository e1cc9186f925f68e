import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { Run } from '../../../../src/core/run/state/run.ts';
import { askToStart } from '../../../../src/editor/blackbox/startQuestion.ts';
import type { BlackboxPlan } from '../../../../src/editor/blackbox/exactRequest.ts';
import { messages } from '../../dialogs.ts';

const hosts = Array.from({ length: 41 }, (_, at) => `https://app-${String(at)}.example.com`);
const plan: BlackboxPlan = {
  workflow: 'blackbox-crawl',
  baseUrl: 'https://assess.example.com/v1',
  organizationId: 'acme',
  language: 'english',
  webhookEndpointIds: ['hook-1', 'hook-2'],
  maxArchiveBytes: 1,
  targets: [{ folder: '/invented', name: 'app-0.example.com' }],
  input: { target_urls: hosts.map((host) => `${host}/login`) },
  targetFile: '/invented/shop.blackbox.json',
};

/** The runs before are on some of the hosts, the newest first. */
async function detailAfter(...started: readonly (readonly [file: string, hosts: readonly string[]])[]) {
  const runs = started.map(([targetFile, some]) => {
    const input = { target_urls: some.map((host) => `${host}/login`) };
    return { ...plan, id: 'invented', state: 'cancelled', createdAt: 0, targetFile, input } as unknown as Run;
  });
  assert.equal(await askToStart(plan, runs, []), 'cancelled');
  return messages.shown.at(-1)?.detail ?? '';
}

describe('the question before a run of a live application', () => {
  it('F144 names every origin that is new, and the webhook endpoints that are notified', async () => {
    const detail = await detailAfter([plan.targetFile ?? '', hosts.toSpliced(17, 1)]);
    assert.ok(detail.startsWith(`${hosts[17]} (first time from this machine)\n`), detail);
    assert.ok(detail.includes('The service notifies these webhook endpoints: hook-1, hook-2\n'), detail);
    const all = await detailAfter();
    for (const host of hosts) assert.ok(all.includes(host), host);
  });

  it('F144 names an origin that is new since the last start from the file, though another file had it', async () => {
    const last = [plan.targetFile ?? '', hosts.slice(0, 39)] as const;
    const other = ['/invented/other.blackbox.json', hosts] as const;
    const detail = await detailAfter(other, last, [plan.targetFile ?? '', hosts]);
    assert.ok(
      detail.startsWith(
        `${hosts[39]}, ${hosts[40]} (new since the last start from this file)\n${hosts[0]}\n`,
      ),
      detail,
    );
  });
});
