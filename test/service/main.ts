import { parseArgs } from 'node:util';
import { startService } from './assessmentService.ts';
import { inventedShop } from './blackbox/inventedShop.ts';

const usage = `Usage: node test/service/main.ts [--port N] [--run-seconds N]

Starts the assessment service on loopback and runs until it is interrupted.
  --port N          the port to listen on (default: a free one)
  --run-seconds N   how long a run takes at least (default: 30)
`;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'run-seconds': { type: 'string', default: '30' },
    help: { type: 'boolean', default: false },
  },
});
const port = Number(values.port);
const runSeconds = Number(values['run-seconds']);

if (values.help) {
  process.stdout.write(usage);
} else if (!Number.isInteger(port) || port < 0 || port > 65_535 || !(runSeconds >= 0)) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  const service = await startService({
    port,
    runDurationMs: runSeconds * 1000,
    log: (line) => process.stdout.write(`${new Date().toISOString()} ${line}\n`),
  });
  process.stdout.write(
    [
      `Base URL:        ${service.baseUrl}`,
      `Organization ID: ${service.organizationId}`,
      `Token:           ${service.token}`,
      `Application:     ${inventedShop.origin}/ (invented: nothing answers there)`,
      ...inventedShop.credentials.map(({ id, password, role }) => `  ${role}: ${id}, ${password}`),
      `A run takes ${runSeconds} s. Ctrl+C stops the service.`,
      '',
    ].join('\n'),
  );
  const stop = () => void service.close();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}
