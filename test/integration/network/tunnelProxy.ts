import http from 'node:http';
import net, { type AddressInfo } from 'node:net';

/** Like a corporate proxy, it tunnels to hosts that only it resolves, and requires credentials. */
export interface TunnelProxy {
  /** The address has the credentials, as VS Code's setting `http.proxy` takes it. */
  readonly address: string;
  /** This address lacks the credentials. */
  readonly bareAddress: string;
  /** A request is `CONNECT host:port`, or the method and URL of a request without a tunnel. */
  readonly asked: readonly string[];
  /** These requests were refused for missing credentials. */
  readonly refused: readonly string[];
  close(): Promise<void>;
}

/** Starts a proxy on loopback; `hosts` gives the loopback port behind each `host:port`. */
export async function startTunnelProxy(hosts: ReadonlyMap<string, number>): Promise<TunnelProxy> {
  const credentials = 'invented-user:invented-password';
  const expected = `Basic ${Buffer.from(credentials).toString('base64')}`;
  const asked: string[] = [];
  const refused: string[] = [];
  const sockets = new Set<net.Socket>();
  const server = http.createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    response.writeHead(502).end();
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request, client: net.Socket, head) => {
    // A peer may hang up.
    client.on('error', () => client.destroy());
    const host = request.url ?? '';
    asked.push(`CONNECT ${host}`);
    if (request.headers['proxy-authorization'] !== expected) {
      refused.push(`CONNECT ${host}`);
      client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="invented"\r\nContent-Length: 0\r\n\r\n',
      );
      return;
    }
    const port = hosts.get(host);
    if (port === undefined) {
      client.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const upstream = net.connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address: `http://${credentials}@${authority}`,
    bareAddress: `http://${authority}`,
    asked,
    refused,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
