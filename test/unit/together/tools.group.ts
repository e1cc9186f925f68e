import { runTogether } from './together.ts';

await runTogether('{,{host,manifest}/**/}*.test.ts');
