/** What stands for a name that the program marks as secret, in the argument `names` and in lines for people. */
export const SECRET_NAME = "[secret]";
