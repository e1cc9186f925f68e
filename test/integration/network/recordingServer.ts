import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/** The credentials of the request are recorded, too. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface RecordingServer {
  readonly port: number;
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

export type Answer = (request: RecordedRequest, response: http.ServerResponse) => void | Promise<void>;

export interface Identity {
  readonly key: string;
  readonly cert: string;
}

export function readIdentity(folder: string, name: 'service' | 'stranger' | 'otherName'): Identity {
  const read = (kind: string): string => readFileSync(path.join(folder, `${name}.${kind}`), 'utf8');
  return { key: read('key'), cert: read('crt') };
}

const answerEmpty: Answer = (_request, response) => void response.end('{}');

/**
 * Starts a recording server, with TLS if `identity` is set. With TLS and
 * `wantsClientCertificate`, it rejects clients without a trusted certificate. By default it answers
 * 200 with an empty object.
 */
export async function startRecording(
  options: { identity?: Identity; wantsClientCertificate?: boolean; answer?: Answer } = {},
): Promise<RecordingServer> {
  const { identity, wantsClientCertificate = false, answer = answerEmpty } = options;
  const requests: RecordedRequest[] = [];
  const listener = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const recorded = { method, path: url, headers, body: Buffer.concat(chunks) };
    requests.push(recorded);
    await answer(recorded, response);
  };
  const onRequest = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    listener(request, response).catch(() => response.destroy());
  };
  const server =
    identity === undefined
      ? http.createServer(onRequest)
      : https.createServer({ ...identity, requestCert: wantsClientCertificate }, onRequest);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Passes requests on to a service, as a TLS front does. */
export function passOn(origin: string): Answer {
  return ({ method, path: target, headers, body }, response) =>
    new Promise((resolve, reject) => {
      const request = http.request(new URL(target, origin), { method, headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
        reply.on('end', resolve);
      });
      request.on('error', reject);
      request.end(body);
    });
}
