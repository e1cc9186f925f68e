// Opens a window on stored runs, and prints after how many ms a command has been answered that
// polls.
import { openWindow } from '../../unit/host/openedWindow.ts';

const [storage = '', folder = '', token = ''] = process.argv.slice(2);
const start = performance.now();
const window = await openWindow({ storage, folder, token });
await window.run('whitebox.refreshRuns', []);
process.stdout.write(String(performance.now() - start), () => process.exit());
