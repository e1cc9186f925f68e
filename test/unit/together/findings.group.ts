import { runTogether } from './together.ts';

await runTogether('findings/{,!(drift|location|parse)/**/}*.test.ts');
