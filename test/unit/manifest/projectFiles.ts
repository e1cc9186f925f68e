import { readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../../..');

export function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

export function readJson(file: string): Record<string, string> {
  return JSON.parse(read(file)) as Record<string, string>;
}

export const manifest: unknown = JSON.parse(read('package.json'));
