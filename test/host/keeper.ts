// Runs one program, and ends it with every process that it started when the standard input of this
// process closes. The input also closes when the process that started this one is killed.
import { spawn, spawnSync } from 'node:child_process';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('usage: keeper.ts PROGRAM [ARGUMENT...]');

const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
child.once('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  endEverything();
});
child.once('exit', endEverything);
process.stdin.once('close', endEverything);
process.stdin.resume();

function endEverything(): void {
  // On POSIX this process leads a group (it is started detached) that its descendants belong to.
  if (process.platform === 'win32') spawnSync('taskkill', ['/pid', String(process.pid), '/T', '/F']);
  else process.kill(-process.pid, 'SIGKILL');
}
