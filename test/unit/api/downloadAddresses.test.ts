import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../run/tempFolder.ts';
import { unsafeAddresses } from '../unsafeAddresses.ts';
import { failureOf, workflow } from './clientCalls.ts';
import { setUpClient } from './clientDesk.ts';

for (const url of unsafeAddresses) {
  test(`F43 the download address ${url.replace(/\?.*/, '')} is refused`, async (t) => {
    const { client, service, lines } = await setUpClient(t);
    const body = JSON.stringify({ url, expires_in_seconds: 900 });
    service.addFault({ match: {}, before: { kind: 'reply', status: 200, body } });
    const path = join(await tempFolder(t), 'report.md');
    const error = await failureOf(client.downloadArtifact(workflow, 'run', 'report', path, { maxBytes: 99 }));
    assert.equal(error.kind, 'insecureUrl');
    assert.equal(service.requests.length, 1, 'asked for once');
    assert.doesNotMatch([error.stack, JSON.stringify(error.data), ...lines].join('\n'), /canary/);
  });
}
