import { runTogether } from './together.ts';

await runTogether('run/!(disk|state|steps)/**/*.test.ts');
