import { runTogether } from './together.ts';

await runTogether('{core,report,service,findings/{drift,parse,place}}/**/*.test.ts');
