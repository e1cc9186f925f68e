import { runTogether } from './together.ts';

await runTogether('{core,features,report,service,findings/{drift,parse,place}}/**/*.test.ts');
