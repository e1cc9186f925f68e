import net from 'node:net';
import { networkInterfaces } from 'node:os';

const mostMs = 4_000;

/** What is seen of the network without a request: whether a connection to a service comes about, and this machine's own addresses. */
export interface Network {
  reaches(baseUrl: string): Promise<boolean>;
  addresses(): string;
}

/** This machine's network. */
export const network: Network = { reaches, addresses };

/** True when a connection to the address's host comes about within four seconds; nothing is sent over it. */
async function reaches(baseUrl: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const usual = protocol === 'https:' ? 443 : 80;
  const socket = net.connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? usual : Number(port),
  });
  return new Promise((resolve) => {
    const end = (isReached: boolean): void => {
      socket.destroy();
      resolve(isReached);
    };
    socket.setTimeout(mostMs, () => end(false));
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
