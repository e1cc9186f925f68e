import { runTogether } from './together.ts';

await runTogether('findings/{,!(drift|parse|place)/**/}*.test.ts');
