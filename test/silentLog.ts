import type { Logger } from '../src/core/ports.ts';

const write = (): void => undefined;

export const silent: Logger = { debug: write, info: write, warn: write, error: write };
