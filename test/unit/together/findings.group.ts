import { runTogether } from './together.ts';

await runTogether('{core,findings,report,service}');
