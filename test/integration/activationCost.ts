import { type Profiler, Session } from 'node:inspector/promises';
import type { Extension } from 'vscode';

/** Activates our extension, which must not be active yet, and returns the milliseconds of script that loading and starting it ran: its frames, and what they called, in a profile of the host's thread. */
export async function activateMeasured(extension: Extension<unknown>): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 100 });
    await session.post('Profiler.start');
    await extension.activate();
    return scriptMs((await session.post('Profiler.stop')).profile, '/dist/bootstrap.cjs');
  } finally {
    session.disconnect();
  }
}

/** How long a file was on the stack. */
function scriptMs({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, file: string): number {
  const inFile = new Set<number>();
  // A caller is listed before what it calls.
  for (const { id, callFrame, children } of nodes) {
    if (!callFrame.url.endsWith(file) && !inFile.has(id)) continue;
    for (const each of [id, ...(children ?? [])]) inFile.add(each);
  }
  const micros = timeDeltas.filter((_, index) => inFile.has(samples[index] ?? NaN));
  return micros.reduce((sum, each) => sum + each, 0) / 1000;
}
