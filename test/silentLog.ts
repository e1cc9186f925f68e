import type { Logger } from '../src/core/ports.ts';

const write = (): void => undefined;

/** A log that nobody reads. */
export const silent: Logger = { debug: write, info: write, warn: write, error: write };
