// `npm run service -- --port N --run-seconds N` runs the assessment service on loopback until it is
// interrupted. Both options can be omitted. A run takes 30 s by default.
import { parseArgs } from 'node:util';
import { startService } from './assessmentService.ts';
import { inventedShop } from './blackbox/inventedShop.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'run-seconds': { type: 'string', default: '30' },
  },
});
const runSeconds = Number(values['run-seconds']);
const service = await startService({
  port: Number(values.port),
  runDurationMs: runSeconds * 1000,
  log: (line) => console.log(`${new Date().toISOString()} ${line}`),
});
console.log(`Base URL:        ${service.baseUrl}
Organization ID: ${service.organizationId}
Token:           ${service.token}
Application:     ${inventedShop.origin}/ (invented: nothing answers there)`);
for (const { id, password, role } of inventedShop.credentials) console.log(`  ${role}: ${id}, ${password}`);
console.log(`A run takes ${runSeconds} s. Ctrl+C stops the service.`);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void service.close());
