import { runTogether } from './together.ts';

await runTogether('{core,features,report,service,workflows,findings/{drift,location,parse}}/**/*.test.ts');
