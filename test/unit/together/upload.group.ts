import { runTogether } from './together.ts';

await runTogether('{api,upload}/**/*.test.ts');
