import type { Page } from '@playwright/test';
import { eventually, patienceMs, readWithin } from './eventually.ts';

interface DialogReading {
  readonly message: string;
  readonly detail: string;
  readonly buttons: readonly string[];
}

export function messagesOf(page: Page) {
  const dialog = page.locator('.monaco-dialog-box');
  const center = page.locator('.notifications-center.visible');
  const bell = page.locator('[id="status.notifications"] .statusbar-item-label');
  const items = page.locator(
    ':is(.notifications-toasts, .notifications-center).visible .notification-list-item',
  );

  const texts = (): Promise<readonly string[]> =>
    items.locator('.notification-list-item-message').allInnerTexts();
  /** Toasts disappear after some seconds; the notification center still has them and stays open. */
  const find = async (text: string | RegExp): Promise<void> => {
    const isShown = async (): Promise<true | undefined> =>
      (await texts()).some((each) => (typeof text === 'string' ? each.includes(text) : text.test(each))) ||
      undefined;
    const isFound = await readWithin(patienceMs, async () => {
      await closeCenter();
      if (await isShown()) return true;
      await openCenter();
      if (await isShown()) return true;
      await closeCenter();
      // A notification that arrives while the center is closed is a toast.
      return readWithin(5_000, isShown);
    });
    if (isFound !== true)
      throw new Error(`No notification says "${String(text)}". These do: ${(await texts()).join(' | ')}`);
  };
  // The palette is not used, because it would close an input that a notification has just opened.
  const openCenter = async (): Promise<void> => {
    if (await center.isVisible()) return;
    // The event is dispatched, since the tooltip of the bell would receive the click.
    await bell.dispatchEvent('click');
    // The center closes by itself when its last notification, such as a progress, disappears.
    await center.waitFor({ timeout: 1_000 }).catch(() => undefined);
    // VS Code takes the list of an empty center for hidden, and lists later notifications twice.
    // Showing the open center again corrects that.
    for (let time = 0; time < 2; time++) {
      await page.keyboard.press('ControlOrMeta+KeyK');
      await page.keyboard.press('ControlOrMeta+Shift+KeyN');
    }
  };
  const closeCenter = (): Promise<void> => pressInCenter('Hide Notifications');
  const pressInCenter = async (action: string): Promise<void> => {
    await eventually(
      async () => {
        if (await center.isVisible())
          await center
            .locator(`.notifications-center-header-toolbar .action-label[aria-label^="${action}"]`)
            .click({ timeout: 1000 })
            .catch(() => undefined);
        return center.isVisible();
      },
      (isVisible) => !isVisible,
    );
  };

  return {
    /** Waits for a notification that contains this text. */
    notification: async (text: string | RegExp): Promise<void> => {
      await find(text);
      await closeCenter();
    },

    /** Presses a button of the notification that contains this text. */
    notificationButton: async (text: string | RegExp, button: string): Promise<void> => {
      const container = items.filter({ hasText: text }).locator('.notification-list-item-buttons-container');
      await eventually(
        async () => {
          await find(text);
          // A toast may disappear before it is clicked.
          return container
            .first()
            .getByText(button, { exact: true })
            .click({ timeout: 1000 })
            .then(
              () => true,
              () => false,
            );
        },
        (isPressed) => isPressed,
      );
      await closeCenter();
    },

    notifications: async (): Promise<readonly string[]> => {
      await openCenter();
      const shown = await texts();
      await closeCenter();
      return shown;
    },

    dismissNotifications: async (): Promise<void> => {
      await openCenter();
      if ((await items.count()) > 0) await pressInCenter('Clear All Notifications');
      await closeCenter();
      await page.locator('.notification-toast').first().waitFor({ state: 'hidden' });
    },

    dialogText: async (): Promise<DialogReading> => {
      await dialog.waitFor();
      return {
        message: await dialog.locator('.dialog-message-text').innerText(),
        detail: (await dialog.locator('.dialog-message-detail').allInnerTexts()).join('\n'),
        buttons: await dialog.locator('.dialog-buttons .monaco-button').allInnerTexts(),
      };
    },

    dialogButton: async (name: string): Promise<void> => {
      const shown = await dialog.elementHandle();
      await dialog.locator('.dialog-buttons').getByText(name, { exact: true }).click();
      await shown.waitForElementState('hidden');
    },
  };
}
