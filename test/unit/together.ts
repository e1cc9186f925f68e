/** Runs the tests of rooms that leave their process as it was in one: a process for each file takes longer than what most of them do. */
import { globSync } from 'node:fs';
import path from 'node:path';
import { before } from 'node:test';

// A test that measures pauses would count the loading of the others.
const loaded = Promise.withResolvers<undefined>();
before(() => loaded.promise);

for (const file of globSync('{core,findings,report,service}/**/*.test.ts', {
  cwd: import.meta.dirname,
}).sort())
  await import(path.join(import.meta.dirname, file));
loaded.resolve(undefined);
