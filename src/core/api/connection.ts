import net from 'node:net';
import { networkInterfaces } from 'node:os';
import type { ErrorKind } from '../errors.ts';

/** What has to be right for a call to succeed, in the order in which it is checked. */
export const CONNECTION_PARTS = [
  'address',
  'network',
  'proxy',
  'certificate',
  'service',
  'token',
  'organization',
] as const;

/** One thing that has to be right for a call to succeed. */
export type ConnectionPart = (typeof CONNECTION_PARTS)[number];

/** Which part a failed call shows to be wrong; those before it in `CONNECTION_PARTS` are in order. Undefined for a failure that says nothing about the connection. */
export function failedPart(kind: ErrorKind): ConnectionPart | undefined {
  switch (kind) {
    case 'insecureUrl':
    case 'badSetting':
      return 'address';
    case 'unsent':
    case 'connectionLost':
    case 'timeout':
      return 'network';
    case 'proxy':
      return 'proxy';
    case 'tls':
      return 'certificate';
    case 'badResponse':
    case 'redirected':
    case 'notFound': // also the answer to a wrong path of the base URL, before the token is checked
    case 'serverError':
    case 'rateLimited':
    case 'rejected':
    case 'conflict':
    case 'tooLarge':
      return 'service';
    case 'unauthorized':
    case 'notSignedIn':
    case 'tokenCommand':
      return 'token';
    case 'forbidden':
      return 'organization';
    default:
      return undefined;
  }
}

const connectTimeoutMs = 4_000;

/** What can be known of the network without a request: whether a service accepts connections, and this machine's own addresses. */
export interface Network {
  reaches(baseUrl: string): Promise<boolean>;
  addresses(): string;
}

/** This machine's network. */
export const network: Network = { reaches, addresses };

/** True when the host accepts a connection within four seconds; nothing is sent over it. */
async function reaches(baseUrl: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const socket = net.connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? defaultPort : Number(port),
  });
  return new Promise((resolve) => {
    const end = (isReached: boolean): void => {
      socket.destroy();
      resolve(isReached);
    };
    socket.setTimeout(connectTimeoutMs, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** The machine's own addresses beyond loopback, which change when it joins or leaves a network. */
function addresses(): string {
  return Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address)
    .sort()
    .join();
}
