import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomOf } from '../torture/seededValues.ts';

export interface CorpusSize {
  readonly files: number;
  readonly ignored: number;
}

const rootRules = `# invented
node_modules/
dist/
/coverage
*.log
*.tmp
*.py[cod]
.env
.env.*
!.env.example
.cache/
**/generated/*.bak
`;
const filesPerFolder = 9;
const poolBytes = 4 << 20;
/** This share of lines repeats a recent line. */
const repeated = 0.3;
const extensions = ['ts', 'ts', 'ts', 'js', 'go', 'py', 'java', 'css', 'json', 'md'];

/**
 * Fills an empty folder with invented sources, always the same for one size. Returns the bytes of
 * the selected files.
 */
export function makeCorpus(root: string, size: CorpusSize): number {
  const random = randomOf(size.files);
  const pool = Buffer.from(inventText(random));
  const noise = Buffer.from(Array.from({ length: 1 << 16 }, () => random() * 256));
  const made = new Set<string>();
  let bytes = 0;
  const put = (path: string, content: Uint8Array | string): void => {
    const full = join(root, path);
    const folder = dirname(full);
    if (!made.has(folder)) mkdirSync(folder, { recursive: true });
    made.add(folder);
    writeFileSync(full, content);
  };
  const send = (path: string, content: Uint8Array | string): void => {
    put(path, content);
    bytes += content.length;
  };

  send('.gitignore', rootRules);
  for (let index = 1; index < size.files; index++) {
    const folder = folderOf(Math.floor(index / filesPerFolder));
    const kind = index % 500;
    if (kind === 7) send(`${folder}/.gitignore`, '*.local\n/out/\n');
    else if (kind === 11) send(`${folder}/picture${index}.png`, noise.subarray(0, 40_000));
    else {
      const length = Math.ceil(-2200 * Math.log(1 - random()) * (index % 60 === 0 ? 12 : 1)) + 40;
      const start = Math.floor(random() * (pool.length - length));
      const name = `source${index}.${extensions[index % extensions.length] ?? 'txt'}`;
      send(`${folder}/${name}`, pool.subarray(start, start + length));
    }
  }
  for (let index = 0; index < size.ignored; index++) {
    const name =
      index % 10 === 0
        ? `${folderOf(index % Math.ceil(size.files / filesPerFolder))}/trace${index}.log`
        : `node_modules/package${Math.floor(index / 30)}/lib/file${index}.js`;
    put(name, pool.subarray(index, index + 300));
  }
  return bytes;
}

function folderOf(number: number): string {
  const area = Math.floor(number / 64);
  const parts = [
    `area${area % 12}`,
    `module${area}`,
    `part${Math.floor(number / 8) % 8}`,
    `unit${number % 8}`,
  ];
  return parts.slice(0, number % 8 === 0 ? 3 : 4).join('/');
}

/**
 * Makes text that compresses about as well and as fast as source code: few names, repeated lines.
 */
function inventText(random: () => number): string {
  const syllables = 'ba ker lo min sta tor qui ven xa por ed un get is'.split(' ');
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * random() * from.length)] as T;
  const words = Array.from({ length: 3000 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(syllables)).join(''),
  );
  const glue = [' ', ' ', ' ', '.', '(', ') ', ', ', ' = ', ' => ', ';', ': ', "'", ' + ', '[', '] '];
  const lines: string[] = [];
  for (let length = 0; length < poolBytes;) {
    const around = Math.floor(lines.length / 60) * 7;
    let line = '  '.repeat(Math.floor(random() * 4));
    if (lines.length > 20 && random() < repeated)
      line = lines[lines.length - 1 - Math.floor(random() * 20)] ?? '';
    else {
      for (let word = Math.floor(random() * 9); word >= 0; word--) {
        line += (words[(around + Math.floor(random() * random() * 60)) % words.length] ?? '') + pick(glue);
      }
    }
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join('\n');
}
