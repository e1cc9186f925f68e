import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import { AssessmentClient } from '../../../../src/core/api/client.ts';
import type { ErrorKind } from '../../../../src/core/errors.ts';
import { systemClock } from '../../../../src/core/ports.ts';
import { type AssessmentService, startService } from '../../../service/assessmentService.ts';
import { temporaryFolder } from '../../dialogs.ts';
import { serviceHost } from '../../network/certificates.ts';
import { certificatesVariable, skipBecause } from '../../events.ts';
import { passOn, readIdentity, type RecordingServer, startRecording } from '../../network/recordingServer.ts';
import { startTunnelProxy, type TunnelProxy } from '../../network/tunnelProxy.ts';
import { call, signIn } from '../../signedIn.ts';
import { setUserSettings } from '../../userSettings.ts';
import { silent } from '../../../silentLog.ts';

const baseUrl = `https://${serviceHost}/v1`;

describe('a corporate network', () => {
  let service: AssessmentService;
  let front: RecordingServer;
  let otherName: RecordingServer;
  let stranger: RecordingServer;
  let strict: RecordingServer;
  let proxy: TunnelProxy;

  before(async function () {
    const certificates = process.env[certificatesVariable];
    if (certificates === undefined) skipBecause(this, 'there is no openssl to make certificates with');
    service = await startService();
    front = await startRecording({
      identity: readIdentity(certificates, 'service'),
      answer: passOn(new URL(service.baseUrl).origin),
    });
    otherName = await startRecording({ identity: readIdentity(certificates, 'otherName') });
    stranger = await startRecording({ identity: readIdentity(certificates, 'stranger') });
    strict = await startRecording({
      identity: readIdentity(certificates, 'service'),
      wantsClientCertificate: true,
    });
    proxy = await startTunnelProxy(
      new Map([
        [`${serviceHost}:443`, front.port],
        [`${serviceHost}:444`, otherName.port],
        [`${serviceHost}:445`, stranger.port],
        [`${serviceHost}:446`, strict.port],
      ]),
    );
  });

  after(async () => {
    // Without openssl, none was started.
    if (process.env[certificatesVariable] === undefined) return;
    await Promise.all([service, front, otherName, stranger, strict, proxy].map((each) => each.close()));
  });

  const signInTo = (baseUrl: string): Promise<void> =>
    signIn({ ...service, baseUrl }, { 'http.proxy': proxy.address });

  it('F87 calls pass an authenticating proxy to a service with a certificate of a private CA', async () => {
    await signInTo(baseUrl);
    await call('testConnection');
    assert.deepEqual(
      service.requests.map(({ path: name, status }) => `${path.basename(name)} ${String(status)}`),
      ['get-upload-url 200', 'cancel-upload 200'],
    );
    assert.deepEqual(new Set(proxy.asked), new Set([`CONNECT ${serviceHost}:443`]));
    assert.deepEqual(proxy.refused, []);
  });

  it('F87 an archive passes that proxy with its exact length and without the token', async () => {
    await setUserSettings({ 'http.proxy': proxy.address });
    const content = randomBytes(3_000_001);
    const file = path.join(await temporaryFolder(), 'archive.tar.gz');
    await writeFile(file, content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const target = {
      file_id: 'invented',
      upload_url: `https://${serviceHost}/upload`,
      expires_in_seconds: 900,
    };
    const archive = { path: file, bytes: content.length, sha256 };
    // The service does not know this address; only the received request matters.
    await assert.rejects(clientFor(baseUrl).putArchive(target, archive), { kind: 'addressRefused' });
    const put = front.requests.find(({ method }) => method === 'PUT');
    assert.equal(put?.headers['content-length'], '3000001');
    assert.equal(put.headers.expect, '100-continue');
    assert.equal(put.headers['transfer-encoding'], undefined);
    assert.equal(put.headers.authorization, undefined);
    assert.equal(put.body.equals(content), true);
  });

  it('F87 a rejection by the proxy is distinguished from one by the service', async () => {
    await setUserSettings({ 'http.proxy': proxy.bareAddress });
    const before = front.requests.length;
    assert.equal(await failureOf(baseUrl), 'proxy');
    assert.deepEqual(new Set(proxy.refused), new Set([`CONNECT ${serviceHost}:443`]));
    assert.equal(front.requests.length, before);
  });

  it('F193 a proxy that opens no tunnel, or cannot be reached, has sent nothing', async () => {
    await setUserSettings({ 'http.proxy': proxy.address });
    assert.equal(await failureOf(`https://${serviceHost}:447/v1`), 'proxy');
    await setUserSettings({ 'http.proxy': 'http://127.0.0.1:1' });
    assert.equal(await failureOf(baseUrl), 'unsent');
  });

  for (const [flaw, url, server] of [
    ['was signed by an untrusted CA', () => `https://${serviceHost}:445/v1`, () => stranger],
    ['has another host name', () => `https://${serviceHost}:444/v1`, () => otherName],
    ['is self-signed on loopback', () => `https://127.0.0.1:${stranger.port}/v1`, () => stranger],
  ] as const)
    it(`F85 a certificate that ${flaw} is refused before anything is sent`, async () => {
      await signInTo(url());
      assert.equal(await failureOf(url()), 'tls');
      await call('testConnection');
      assert.deepEqual(server().requests, []);
    });

  it('F45 a client without the certificate that the service wants learns it late: the answer is lost', async () => {
    // With TLS 1.3, the alert comes once the request has been written.
    const url = `https://${serviceHost}:446/v1`;
    await signInTo(url);
    assert.equal(await failureOf(url), 'connectionLost');
    assert.deepEqual(strict.requests, []);
  });

  function clientFor(url: string): AssessmentClient {
    return new AssessmentClient({
      baseUrl: url,
      organizationId: service.organizationId,
      token: { get: () => Promise.resolve(service.token), refresh: () => Promise.resolve(undefined) },
      clock: systemClock,
      log: silent,
      random: () => 0,
    });
  }

  async function failureOf(url: string): Promise<ErrorKind | undefined> {
    try {
      await clientFor(url).getUploadUrl(1);
      return undefined;
    } catch (error) {
      return (error as { kind?: ErrorKind }).kind;
    }
  }
});
