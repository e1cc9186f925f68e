import { runTogether } from './together.ts';

await runTogether('run/!(disk|start|state)/**/*.test.ts');
