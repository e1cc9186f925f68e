import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const maxComment = 100;
/** `printWidth` of Prettier, which breaks no string, pattern, or long word. */
const maxCode = 110;

/** Prettier formats code, but neither comments nor what is in a template string. */
function isTooWide(line: string, file: string): boolean {
  if (/^\s*(\/\/|\*)?\s*\S+$/.test(line)) return false;
  const isComment = /^\s*(\/[/*]|\*)/.test(line);
  if (isComment) return line.length > maxComment;
  return line.length > maxCode && !/['"`/]/.test(line) && !file.startsWith('test');
}

const root = path.join(import.meta.dirname, '../..');
const files = globSync(['{src,test,webview-ui}/**/*.ts', '*.mjs'], { cwd: root });
const tooWide = files.flatMap((file) =>
  readFileSync(path.join(root, file), 'utf8')
    .split('\n')
    .flatMap((line, at) =>
      isTooWide(line, file) ? [`${file}:${String(at + 1)}: ${String(line.length)}`] : [],
    ),
);
if (tooWide.length > 0) {
  console.error(`Wider than ${String(maxComment)} (comments) or ${String(maxCode)} (code) columns:`);
  console.error(tooWide.join('\n'));
  process.exit(1);
}
