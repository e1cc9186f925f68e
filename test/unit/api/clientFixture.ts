import type { AddressInfo, Server } from 'node:net';
import type { TestContext } from 'node:test';
import { AssessmentClient } from '../../../src/core/api/client.ts';
import type { TokenSource } from '../../../src/core/api/credentials.ts';
import type { IdleLimits } from '../../../src/core/api/http.ts';
import type { Clock } from '../../../src/core/ports.ts';
import {
  type AssessmentService,
  type ServiceOptions,
  startService,
} from '../../service/assessmentService.ts';

/** Has the log lines and waits of the client, too. */
export interface ClientFixture {
  readonly service: AssessmentService;
  readonly client: AssessmentClient;
  readonly lines: string[];
  /** VS Code shows these lines at its usual level. */
  readonly warnings: string[];
  /** Each wait has its milliseconds, but takes no time. */
  readonly waits: number[];
}

export interface ClientChanges {
  readonly token?: TokenSource;
  readonly idle?: IdleLimits;
  readonly baseUrl?: string;
  readonly now?: () => number;
  readonly monotonic?: () => number;
}

/** The token is never refreshed. */
export function fixedToken(token: string | undefined): TokenSource {
  return { get: () => Promise.resolve(token), refresh: () => Promise.resolve(undefined) };
}

/** The service accepts this token. */
export function withToken(token: string): [ClientChanges, ServiceOptions] {
  return [{ token: fixedToken(token) }, { organizations: { o: [token] } }];
}

/** Starts a server on loopback that ends with the test; resolves to its host and port. */
export async function listen(t: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

export async function setUpClient(
  t: TestContext,
  changes: ClientChanges = {},
  options: ServiceOptions = {},
): Promise<ClientFixture> {
  const service = await startService({ runDurationMs: 0, ...options });
  t.after(() => service.close());
  const lines: string[] = [];
  const warnings: string[] = [];
  const waits: number[] = [];
  const write = (line: string): void => void lines.push(line);
  const warn = (line: string): void => {
    write(line);
    warnings.push(line);
  };
  const clock: Clock = {
    now: changes.now ?? (() => Date.now()),
    monotonic: changes.monotonic ?? (() => performance.now()),
    sleep: (ms, signal) => {
      waits.push(ms);
      return signal?.aborted === true ? Promise.reject(signal.reason as Error) : Promise.resolve();
    },
  };
  const client = new AssessmentClient({
    baseUrl: changes.baseUrl ?? service.baseUrl,
    organizationId: service.organizationId,
    token: changes.token ?? fixedToken(service.token),
    clock,
    log: { debug: write, info: write, warn, error: write },
    random: () => 0.5,
    ...(changes.idle === undefined ? {} : { idle: changes.idle }),
  });
  return { service, client, lines, warnings, waits };
}
