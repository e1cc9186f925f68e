import { parentPort, workerData } from 'node:worker_threads';
import { acknowledged, exit } from '../workers.ts';
import {
  type ArchiveFormat,
  fromPackedPaths,
  type PackedPaths,
  type PackMessage,
  packTask,
} from './packing.ts';
import { TarBuilder } from './tarGz.ts';
import { ZipBuilder } from './zip.ts';

export interface PackStart {
  readonly root: string;
  readonly format: ArchiveFormat;
}

export interface PackOrder {
  readonly id: number;
  readonly first: number;
  readonly files: PackedPaths;
}

const maxUnacknowledged = 4;

function serve(port: NonNullable<typeof parentPort>, { root, format }: PackStart): void {
  let unacknowledged = 0;
  let resume: (() => void) | undefined;
  let work = Promise.resolve();

  const send = async (message: PackMessage): Promise<void> => {
    if (message.kind === 'segment') {
      const data = transferable(message.data);
      const central = transferable(message.central);
      const transfer = [data.buffer, central.buffer, message.packed.buffer, message.offsets.buffer];
      port.postMessage({ ...message, data, central }, transfer);
    } else port.postMessage(message);
    if (message.kind === 'done') return;
    unacknowledged++;
    while (unacknowledged >= maxUnacknowledged) await new Promise<void>((resolve) => (resume = resolve));
  };

  port.on('message', (message: PackOrder | typeof acknowledged | typeof exit) => {
    if (message === exit) process.exit();
    if (message === acknowledged) {
      unacknowledged--;
      resume?.();
      return;
    }
    const builder = format === 'zip' ? new ZipBuilder() : new TarBuilder();
    const task = { ...message, files: fromPackedPaths(message.files) };
    work = work.then(() => packTask(task, root, builder, send));
  });
}

function transferable(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = data;
  if (buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength) {
    return new Uint8Array(buffer);
  }
  return new Uint8Array(data);
}

if (parentPort !== null) serve(parentPort, workerData as PackStart);
